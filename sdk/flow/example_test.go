package flow_test

import (
	"fmt"
	"time"

	"github.com/orbitrun/orbit/sdk/flow"
)

// The smallest definition: one task.
func ExampleDefine() {
	type Name struct {
		Name string `json:"name" flow:"minLength=1"`
	}
	type Greeting struct {
		Text string `json:"text"`
	}
	greet := flow.Handler[Name, Greeting]("hello", "hello.greet", "1")
	once := flow.Policy{Name: "once", Priority: 5, Deadline: time.Minute, AttemptTimeout: 10 * time.Second,
		Lost: flow.LostRetry, Retry: flow.Fixed{MaxAttempts: 3, Delay: time.Second}}

	in := flow.Input[Name]()
	hello := flow.Task("hello", greet, once, in)
	d, err := flow.Define[Name, Greeting]("hello_world", 1,
		flow.Settings{Deadline: 5 * time.Minute, OnFailure: flow.Review}, flow.Body(hello), hello.Out())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(d.JSON()))
	// Output:
	// {
	//   "schema_version": 1,
	//   "definition": "hello_world",
	//   "version": 1,
	//   "input_contract": "name",
	//   "output_contract": "greeting",
	//   "deadline_ms": 300000,
	//   "on_failure": "REVIEW",
	//   "contracts": {
	//     "name": {
	//       "type": "object",
	//       "required": ["name"],
	//       "properties": {"name": {"type": "string", "minLength": 1}}
	//     },
	//     "greeting": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
	//   },
	//   "policies": {
	//     "once": {
	//       "priority": 5,
	//       "deadline_ms": 60000,
	//       "attempt_timeout_ms": 10000,
	//       "lost": "RETRY",
	//       "retry": {"kind": "FIXED", "max_attempts": 3, "delay_ms": 1000, "jitter_percent": 0}
	//     }
	//   },
	//   "body": [
	//     {
	//       "name": "hello",
	//       "kind": "TASK",
	//       "queue": "hello",
	//       "handler": "hello.greet",
	//       "handler_version": "1",
	//       "input": "${input}",
	//       "input_contract": "name",
	//       "output_contract": "greeting",
	//       "policy": "once",
	//       "business_key": null,
	//       "resource_key": null
	//     }
	//   ],
	//   "output": "${steps.hello.output}"
	// }
}
