// Package api is the shell: it turns HTTP into calls and back, and decides nothing.
//
// openapi.yaml describes the whole surface; gen/http is made from it. A request passes, in this order:
//
//	guard     request id, recovery, headers, metrics           middleware.go
//	route     the operation of the description                  spec.go
//	who       key and scope, as the description demands         middleware_auth.go
//	what      parameters, body text, body shape                 bind_*.go
//	do        one file per operation: task_submit.go …
//	answer    payload bytes exact, or one problem               strict.go, errors.go
//
// Nothing before "do" touches the database except the one row of the key, and what is refused there has written
// nothing. Operations call the ports in ports.go for everything that changes state, and read through one pool of
// plain single-statement reads. Only this package and its tests import Echo.
package api
