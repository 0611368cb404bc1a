// Package flow builds workflow definitions in Go and prints them as the JSON
// document an Orbit server publishes (schema_version 1).
//
// The document stays the contract. The builder runs nothing and decides
// nothing: it gives names, placement and struct fields to the Go compiler and
// to Define, and leaves scope, types and limits to the server's validator,
// which is the only authority on what may be published.
//
// A node is a variable, a reference to what it produced is its Out():
//
//	in := flow.Input[Order]()
//	charge := flow.Task("charge", Charge, Money, flow.Object{"amount": flow.Get[flow.Number](in, "total")})
//	return flow.Define[Order, ChargeOut]("billing", 1,
//		flow.Settings{Deadline: time.Hour, OnFailure: flow.Review}, flow.Body(charge), charge.Out())
//
// # Contracts
//
// Contracts come from struct types. A field is required, has its json name and
// the JSON type of its Go type; a pointer may also be null. The flow tag adds
// what Go types cannot say:
//
//	type Order struct {
//		_     flow.Contract `flow:"name=order,closed"`               // optional: contract name, no unknown members
//		ID    string        `json:"id" flow:"minLength=1,maxLength=64"`
//		Total flow.Number   `json:"total" flow:"min=0"`              // exact, never a float
//		Way   string        `json:"way" flow:"enum=STANDARD|EXPRESS"`
//		Note  string        `json:"note,omitempty" flow:"optional"`  // omitempty and omitzero imply optional
//	}
//
// Without a marker the contract is named after the type in snake_case. Any and
// None as a type argument print a null contract.
//
// # Errors
//
// Nothing panics and nothing returns early. A mistake is remembered where it
// was made and Define reports all of them together as *DefinitionError, each
// with a stable code, the Go-side name and the source line.
//
// # Not yet runnable
//
// Scope and Compensate print the reserved kind SCOPE. The language reserves
// it, today's server answers node_kind_unsupported.
package flow
