// Package order is the example with parallel work, a branch with outputs and
// compensation (definition.md 7.1). Scope and Compensate are reserved by the
// language, so this one cannot be published yet.
package order

import (
	"time"

	"github.com/orbitrun/orbit/sdk/flow"
)

// Order is the input.
type Order struct {
	_       flow.Contract `flow:"closed"`
	OrderID string        `json:"order_id" flow:"minLength=1,maxLength=64"`
	Total   flow.Number   `json:"total" flow:"min=0"`
	Way     string        `json:"way" flow:"enum=STANDARD|EXPRESS"`
	Note    string        `json:"note,omitempty" flow:"optional,maxLength=500"`
	Lines   []Line        `json:"lines" flow:"minItems=1,maxItems=200"`
}

// Line is one position of an order.
type Line struct {
	SKU      string `json:"sku"`
	Quantity int    `json:"quantity" flow:"min=1"`
}

// The contracts of the handlers.
type (
	ChargeIn struct {
		OrderID string      `json:"order_id"`
		Amount  flow.Number `json:"amount"`
	}
	ChargeOut struct {
		_        flow.Contract `flow:"name=charge"`
		ChargeID string        `json:"charge_id"`
	}
	ReserveIn struct {
		Lines []flow.Any `json:"lines"`
		Note  string     `json:"note" flow:"optional"`
	}
	Reservation struct {
		ReservationID string      `json:"reservation_id"`
		WeightKG      flow.Number `json:"weight_kg" flow:"optional"`
	}
	ShipIn struct {
		ReservationID string      `json:"reservation_id"`
		WeightKG      flow.Number `json:"weight_kg"`
	}
	Shipment struct {
		Carrier  string  `json:"carrier"`
		Tracking *string `json:"tracking"`
	}
)

// The handlers and policies, shared with the workers.
var (
	Charge      = flow.Handler[ChargeIn, ChargeOut]("payments", "charge.create", "2")
	Refund      = flow.Handler[ChargeOut, flow.None]("payments", "charge.refund", "2")
	Reserve     = flow.Handler[ReserveIn, Reservation]("warehouse", "stock.reserve", "5")
	Release     = flow.Handler[Reservation, flow.None]("warehouse", "stock.release", "5")
	BookCourier = flow.Handler[ShipIn, Shipment]("shipping", "courier.book", "1")
	HandOver    = flow.Handler[ShipIn, flow.None]("shipping", "post.hand_over", "1")

	Money = flow.Policy{Name: "money", Priority: 7, Deadline: 24 * time.Hour, AttemptTimeout: 2 * time.Minute,
		Lost: flow.LostReview, Retry: flow.Fixed{MaxAttempts: 3, Delay: 30 * time.Second}}
	Standard = flow.Policy{Name: "standard", Priority: 5, Deadline: 24 * time.Hour, AttemptTimeout: time.Minute,
		Lost: flow.LostRetry, Retry: flow.Exponential{MaxAttempts: 6, Delay: 2 * time.Second, Factor: 2,
			MaxDelay: 5 * time.Minute, JitterPercent: 10}}
)

// OrderFulfilment charges and reserves at the same time, then ships.
func OrderFulfilment() (*flow.Definition, error) {
	in := flow.Input[Order]()
	id := flow.Get[string](in, "order_id")
	charge := flow.Task("charge", Charge, Money, flow.Object{"order_id": id, "amount": flow.Get[flow.Number](in, "total")}).
		BusinessKey(id).ResourceKey(flow.Concat("order/", id))
	charge.Compensate(Refund, Money, charge.Out()).BusinessKey(id)
	reserve := flow.Task("reserve", Reserve, Standard,
		flow.Object{"lines": flow.Get[[]Line](in, "lines"), "note": flow.OrOmit(flow.Get[string](in, "note"))}).BusinessKey(id)
	reserve.Compensate(Release, Standard, reserve.Out()).BusinessKey(id)
	parcel := flow.Object{"reservation_id": flow.Get[string](reserve.Out(), "reservation_id"),
		"weight_kg": flow.OrValue(flow.Get[flow.Number](reserve.Out(), "weight_kg"), "1")}
	courier := flow.Task("courier", BookCourier, Standard, parcel).BusinessKey(id)
	post := flow.Task("post", HandOver, Standard, parcel).BusinessKey(id)
	express := flow.Eq(flow.Get[string](in, "way"), "EXPRESS")
	ship := flow.Branch[Shipment]("ship",
		flow.When(flow.And(express, flow.AtLeast(flow.Get[flow.Number](in, "total"), "50.00")), courier).Output(courier.Out()),
		flow.When(express).Review("express_below_minimum"),
		flow.Otherwise(post).Output(flow.Object{"carrier": "POST", "tracking": nil}))
	settings := flow.Settings{Deadline: 72 * time.Hour, OnFailure: flow.FailAfterSettled,
		Description: "Charge and reserve at the same time, then ship; undo both if it stops."}
	return flow.Define[Order, Shipment]("order_fulfilment", 7, settings,
		flow.Body(flow.Scope("undoable", 24*time.Hour,
			flow.Parallel("prepare", flow.Lane("money", charge), flow.Lane("goods", reserve)), ship)), ship.Out())
}
