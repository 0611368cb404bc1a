package stream

import (
	"cmp"
	"slices"
	"time"

	"github.com/orbitrun/orbit/engine"
)

// Bounds of the API; each is also in the description.
const (
	QueuesMax      = 64 // of one selection
	HandlersMax    = 32 // likewise
	WindowMax      = 1024
	PullMax        = 64 // 64 results of 256 KiB are 16 MiB, the largest answer
	AckItemsMax    = 256
	ScanMax        = 256 // entries that one look reads
	ScanSaveMin    = 256 // entries without a match that are worth writing down
	RedeliverMax   = 100
	NackDelayMax   = 24 * time.Hour
	AckTimeoutMin  = time.Second
	AckTimeoutMax  = time.Hour
	GenerationsMax = 1000
)

// Subscription is a subscription row as it is held.
type Subscription struct {
	ID, Application uint64
	Queues          []uint64 // sorted; empty selects every queue of the application
	States          States
	Handlers        []string // sorted; empty selects every handler
	InOrder, Paused bool
	Window          int
	AckTimeout      time.Duration
	Generations     int
	Position
	Pending, Dead int64
	Secret        [32]byte
	Version       uint32
}

// Position is how far a subscription has read, and what it has seen on the way.
type Position struct {
	Epoch    uint32
	Next     uint64   // first number that was not looked at
	Hash     [32]byte // link of Next − 1
	Anchored bool     // false: Hash is not known, because the start was the oldest entry kept
	Last     uint64   // the last number that was selected in this epoch
	Selected uint64   // how many were selected in this epoch
}

// States is a set of result states, one bit for each; none selects all of them.
type States uint8

// With adds a state.
func (s States) With(state uint8) States { return s | 1<<state }

// Has reports whether a result in a state is selected.
func (s States) Has(state uint8) bool { return s == 0 || s&(1<<state) != 0 }

// Selects reports whether an entry is the subscription's. A subscription that selects by handler needs the handler of
// every entry that AsksHandler names.
func (s *Subscription) Selects(e *Entry) bool {
	return s.selectsEntry(e) && selected(s.Handlers, e.Handler)
}

// AsksHandler reports whether it depends on the handler whether an entry is the subscription's.
func (s *Subscription) AsksHandler(e *Entry) bool { return len(s.Handlers) > 0 && s.selectsEntry(e) }

func (s *Subscription) selectsEntry(e *Entry) bool {
	return e.Application == s.Application && s.States.Has(e.State) && selected(s.Queues, e.Queue)
}

// selected looks an item up in a sorted selection; an empty one selects everything.
func selected[T cmp.Ordered](selection []T, item T) bool {
	_, listed := slices.BinarySearch(selection, item)
	return listed || len(selection) == 0
}

// Delivery is one unacknowledged delivery, or a dead letter.
type Delivery struct {
	Seq, Previous uint64
	Generation    uint32
	Tries         int
	Holder        uint64 // 0: nobody
	DueAt         time.Time
	Dead          bool
}

// Entry is one entry of the namespace's stream.
type Entry struct {
	Seq                uint64
	Application, Queue uint64
	Task               engine.ID
	State              uint8
	Version            uint32
	Hash               [32]byte
	Handler            string // of the task, where it was asked for; it is no part of the link
}

// Letter is a new dead letter.
type Letter struct {
	Delivery
	Reason string
}

// Changes are the writes of one consumption. The subscription row itself is always in After.
type Changes struct {
	After   Subscription
	Put     []Delivery // new and changed
	Settled []uint64   // delivery rows that go
	Buried  []Letter   // delivery rows that become dead letters
	Cleared []uint64   // dead letters that go
	Empty   bool       // nothing is worth writing
}
