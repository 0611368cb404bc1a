// Package orbit is the client of an Orbit server: tasks, queues, workflow definitions and instances. Package worker runs
// tasks, package flow builds workflow definitions.
//
//	client, err := orbit.New("http://127.0.0.1:7460", os.Getenv("ORBIT_KEY"))
//	receipt, err := client.Submit(ctx, orbit.Submission{
//		SubmitKey: "invoice-2031-07", Queue: "conversions", Handler: "convert", HandlerVersion: "2",
//		Input: json.RawMessage(`{"document": 4711}`),
//		Deadline: time.Hour, AttemptTimeout: time.Minute, Retry: orbit.Once(),
//	})
//	result, err := client.Wait(ctx, receipt.TaskID)
//
// # Keys
//
// Every command has a key (submit key, start key, idempotency key), and the server answers the same key and content with
// the first receipt. A call whose fate is unclear (network, 502, 503, 504, 429) is therefore repeated with the same key
// until it is answered, the context ends or the retry time is over. When it ends without an answer the error is an
// *UnknownError, which names the key to ask again with.
//
// A command without a key gets a random one. It protects this one call only: after a crash of the caller nobody knows
// the key any more, and submitting again makes a second task. Whoever submits on behalf of a record should use a key
// derived from that record.
//
// # Payloads
//
// A json.RawMessage is sent and returned byte for byte, blanks and number digits included. Values of other types are
// written by encoding/json; use flow.Number or json.Number where a float would lose digits.
package orbit
