package api_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	httpapi "github.com/orbitrun/orbit/gen/http"
)

// A definition is checked, published, replayed and read back byte for byte; an instance runs through its one step.
func TestOneWorkflowThroughTheWholeSurface(t *testing.T) {
	n := newNode(t)
	var checked httpapi.WorkflowValidation
	n.post("/v1/workflow-validations", fmt.Sprintf(`{"document":%s}`, workflow)).is(200).into(&checked)
	unknown := slices.IndexFunc(checked.Findings, func(f httpapi.WorkflowFinding) bool { return f.Code == "queue_unknown" && f.Severity == "ERROR" })
	if checked.Valid || unknown < 0 || checked.Findings[unknown].Pointer != "/body/0/queue" || checked.Findings[unknown].Line != 4 {
		t.Errorf("without its queue: %+v", checked)
	}
	n.queue("work")
	checked = httpapi.WorkflowValidation{}
	n.post("/v1/workflow-validations", fmt.Sprintf(`{"document":%s}`, workflow)).is(200).into(&checked)
	first := n.post("/v1/workflows", fmt.Sprintf(`{"document":%s}`, workflow)).is(201)
	again := n.post("/v1/workflows", fmt.Sprintf(`{"document":%s}`, workflow)).is(201)
	if !checked.Valid || !bytes.Equal(first.body, again.body) || again.header.Get("Orbit-Replayed") != "true" {
		t.Errorf("valid %t, published %s, again %s", checked.Valid, first.body, again.body)
	}
	if p := n.post("/v1/workflows", fmt.Sprintf(`{"document":%s}`, strings.Replace(workflow, "3600000", "3600001", 1))).is(409).problem(); p.Code != "version_conflict" {
		t.Error(p.Code)
	}
	if got := n.get("/v1/workflows/chain/versions/1").is(200); !bytes.Contains(got.body, []byte(`"document":`+workflow)) {
		t.Errorf("the document changed: %s", got.body)
	}
	for path, status := range map[string]int{"/v1/workflows": 200, "/v1/workflows/chain": 200, "/v1/workflows/chain/versions": 200, "/v1/workflows/none": 404, "/v1/workflows/chain/versions/2": 404} {
		n.get(path).is(status)
	}

	start := `{"start_key":"s1","definition":"chain","input":{"n": 1.50}}`
	started, replayed := n.post("/v1/instances", start).is(201), n.post("/v1/instances", start).is(201)
	if !bytes.Equal(started.body, replayed.body) || replayed.header.Get("Orbit-Replayed") != "true" {
		t.Errorf("a replay differs: %s %s", started.body, replayed.body)
	}
	var receipt httpapi.InstanceReceipt
	started.into(&receipt)
	var batch httpapi.InstanceBatchOutcomes
	n.post("/v1/instance-batches", `{"items":[`+start+`,{"start_key":"s2","definition":"none","input":1},{"start_key":""}]}`).is(200).into(&batch)
	if !batch.Items[0].Replayed || batch.Items[1].Problem == nil || !bytes.Contains(batch.Items[2].Problem, []byte("field_length")) {
		t.Errorf("batch: %+v", batch.Items)
	}

	var claimed httpapi.ClaimResult
	n.post("/v1/claims", strings.Replace(claim, `"max_tasks":8`, `"max_tasks":8,"wait_ms":5000`, 1)).is(200).into(&claimed)
	if len(claimed.Tasks) != 1 || string(claimed.Tasks[0].Input) != `{"n":1.50}` {
		t.Fatalf("claimed %+v", claimed)
	}
	task := claimed.Tasks[0]
	var source httpapi.TaskSource
	n.get("/v1/tasks/" + task.TaskId + "/source").is(200).into(&source)
	if source.Kind != "WORKFLOW" || *source.InstanceId != receipt.InstanceId || *source.Step != "one" || *source.ActivationNo != 1 {
		t.Errorf("source: %+v", source)
	}
	n.post("/v1/completions", fmt.Sprintf(`{"worker":"w","items":[{"task_id":%q,"attempt_no":1,"token":%q,"outcome":"SUCCEEDED","output":"ok"}]}`, task.TaskId, task.Token)).is(200)
	path := "/v1/instances/" + receipt.InstanceId
	var instance httpapi.Instance
	for began := time.Now(); instance.State != "SUCCEEDED"; {
		instance = httpapi.Instance{}
		n.get(path).is(200).into(&instance)
		if time.Since(began) > 10*time.Second {
			t.Fatalf("the instance is %s", instance.State)
		}
		time.Sleep(20 * time.Millisecond)
	}
	var steps httpapi.StepList
	n.get(path + "/steps").is(200).into(&steps)
	if len(steps.Items) != 1 || steps.Items[0].State != "SUCCEEDED" || *steps.Items[0].TaskId != task.TaskId || string(instance.Output) != `"ok"` {
		t.Errorf("steps %+v, output %s", steps, instance.Output)
	}
	var history httpapi.RevisionList
	n.get(path + "/history").is(200).into(&history)
	for i, r := range history.Items {
		if r.Revision != int64(i+1) {
			t.Errorf("revision %d at %d", r.Revision, i)
		}
	}
	var list httpapi.InstanceList
	n.get("/v1/instances").is(200).into(&list)
	if len(list.Items) != 1 {
		t.Errorf("%d instances", len(list.Items))
	}
}
