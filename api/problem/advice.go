package problem

import "fmt"

// Advice is what the page of a code says beside its row in the table: why it happens and what ends it.
type Advice struct{ Cause, Fix string }

// AdviceOf is the advice about a code; false for a code without, which a test of the documentation does not allow.
func AdviceOf(code string) (Advice, bool) {
	a, ok := advice[code]
	return a, ok
}

// AdvisedCodes lists the codes there is advice about.
func AdvisedCodes() []string {
	codes := make([]string, 0, len(advice))
	for code := range advice {
		codes = append(codes, code)
	}
	return codes
}

// Repeat says whether sending the very same request again is safe and useful.
func (p *Problem) Repeat() string {
	after := ""
	if ms := p.RetryAfterMS(); ms > 0 {
		after = fmt.Sprintf(", after %d ms", ms)
	}
	switch {
	case p.Code == "not_implemented":
		return "useless"
	case p.Status() >= 500:
		return "safe with the same key" + after
	case after != "":
		return "safe" + after
	}
	return "useless until something changes"
}

var advice = map[string]Advice{
	"text_syntax":        {"The body is not one JSON value.", "Send valid JSON; the detail gives the offset."},
	"text_duplicate_key": {"An object names a member twice; readers would disagree about it.", "Name each member once."},
	"text_depth":         {"The JSON nests deeper than 64 levels.", "Flatten it, or send a reference."},
	"text_encoding":      {"Not UTF-8, or a NUL, or half of a surrogate pair.", "Encode the text as UTF-8."},
	"number_range":       {"A number has more than 100 significant digits or an exponent outside −400 to +400.", "Send it as a string."},
	"body_missing":       {"The operation needs a body.", "Send one, with `Content-Type: application/json`."},
	"body_unexpected":    {"The operation takes no body.", "Leave it out."},
	"field_unknown":      {"A field the operation does not have, often a misspelling.", "Correct the name; `errors[].pointer` shows the place."},
	"field_missing":      {"A required field is absent.", "Add it."},
	"field_type":         {"A field holds another JSON type.", "Send the type of the description."},
	"field_range":        {"A number is outside its bounds.", "Keep to the bounds in the detail."},
	"field_length":       {"A text or list is too long or too short. Lengths of text count bytes.", "Keep to the bounds in the detail."},
	"field_pattern":      {"A text does not have the form of its field.", "Keep to the form in the detail."},
	"field_enum":         {"A text is not one of the listed values.", "Use one of them; capitals count."},
	"id_invalid":         {"An id of another kind, or mistyped.", "Ids carry their kind: `task_…`, `inst_…`, `queue_…`."},
	"parameter_unknown":  {"The operation has no such query parameter.", "Correct the name. Unknown filters are never ignored, they would widen the answer."},
	"parameter_missing":  {"A required query parameter is absent.", "Add it."},
	"parameter_invalid":  {"A query parameter has the wrong form.", "Correct it; the detail names it."},
	"header_invalid":     {"A header has the wrong form.", "Correct it; the detail names it."},
	"cursor_invalid":     {"The cursor belongs to another list or other filters.", "Begin the list again without a cursor, or keep the filters."},
	"request_invalid":    {"Fields that are each valid contradict each other.", "Read the detail."},
	"cron_invalid":       {"The expression is not five fields of minute, hour, day, month and weekday, or names a day that no month has.", "Read the detail; `POST /v1/schedule-previews` shows what an expression means."},
	"time_zone_unknown":  {"The time zone is empty, the node's own, or no IANA name.", "Name one such as Europe/Berlin, or UTC."},
	"path_invalid":       {"The path has empty or dot segments or bad escapes.", "Send the path of the description."},

	"credential_missing":   {"No `Authorization: Bearer` header.", "Send the key."},
	"credential_invalid":   {"The text is no key, or the key is not known here.", "Check that it was copied whole and belongs to this server."},
	"credential_expired":   {"The key's time is over.", "Issue or rotate a key."},
	"credential_revoked":   {"The key was revoked. Old receipts cannot be read with it either.", "Issue another key."},
	"scope_missing":        {"The key is valid but lacks the scope of the operation.", "Use a key that has it. No scope implies another."},
	"scope_unknown":        {"A scope that does not exist.", "See [scopes](../70-identity-and-keys.md)."},
	"application_disabled": {"An administrator disabled the application.", "Ask the administrator."},
	"namespace_disabled":   {"An administrator disabled the namespace.", "Ask the administrator."},

	"subscription_not_found":     {"No subscription of this name in the key's application.", "List the subscriptions."},
	"subscription_fixed":         {"Queues and order of a subscription hold from its creation on.", "Make another subscription."},
	"subscription_active":        {"The position may change only while the subscription is paused.", "Pause it, wait for its consumers, seek, resume."},
	"deliveries_held":            {"A consumer still holds a delivery whose time has not ended.", "Wait for the acknowledgement or the end of its time."},
	"window_full":                {"The dead letters do not fit into the window.", "Acknowledge some, name fewer, or widen the window."},
	"sequence_unavailable":       {"The number is not written yet or no longer kept.", "Start at `FIRST` or `HEAD`."},
	"stream_broken":              {"An entry between the last one read and the next one kept is missing or was changed.", "Find out why; then seek to a number that is there. What lies between is lost to this subscription."},
	"route_not_found":            {"No operation has this path.", "See the [operations](README.md)."},
	"task_not_found":             {"No such task in the caller's application. Another namespace's task answers the same.", "Check the id and the key."},
	"review_not_found":           {"Nobody has decided about the task.", "Read the task; only NEEDS_REVIEW has something to decide."},
	"bulk_operation_not_found":   {"No such bulk operation in the caller's application.", "List those of a queue with `GET /v1/bulk-operations?queue=…`."},
	"queue_not_found":            {"No such queue in the caller's application.", "Create it with `PUT /v1/queues/{queue}`."},
	"queue_unknown":              {"The submission names a queue that does not exist.", "Create the queue, then repeat with the same key."},
	"workflow_not_found":         {"No such workflow in the caller's application.", "Publish it, or correct the name."},
	"version_not_found":          {"The workflow has no such version.", "List its versions."},
	"schedule_not_found":         {"No such schedule in the caller's application.", "List the schedules, or create it."},
	"schedule_version_not_found": {"The schedule has no such version.", "List its versions."},
	"schedule_never_due":         {"No slot comes within eight years.", "Correct the timing."},
	"instance_not_found":         {"No such instance in the caller's application.", "Check the id and the key."},
	"application_unknown":        {"The application has no quota row.", "An administrator sets a quota."},
	"application_not_found":      {"No such application in the namespace.", "Check the id."},
	"credential_not_found":       {"No such key in the namespace.", "Check the id."},
	"method_not_allowed":         {"The path exists, the method does not.", "See `Allow` in the answer."},
	"request_timeout":            {"The request did not arrive in time.", "Send it again; look at the network."},

	"submission_conflict":    {"The submit key was used for a submission with other content.", "Send the first content again, or use a new key."},
	"activation_unknown":     {"The signal names an activation that the step does not have yet.", "Read the step; `activation_no` is 1 while it has never begun."},
	"signals_exhausted":      {"An instance takes 1024 signals over its whole history, whatever became of them.", "Find out who sends so many; use another step or instance."},
	"start_conflict":         {"The start key was used for a start with other content.", "Send the first content again, or use a new key."},
	"idempotency_conflict":   {"The `Idempotency-Key` was used for another request.", "Use one key per intended effect."},
	"version_conflict":       {"The version is published with other content. Versions never change.", "Publish under the next version."},
	"revision_conflict":      {"Somebody changed the object since it was read.", "Read it again and decide again."},
	"name_conflict":          {"The name is taken.", "Choose another."},
	"retention_invalid":      {"A time to keep is below its minimum or above 100 years, or tasks have one and their results have none.", "Correct the field named; the detail gives the bounds. 0 keeps for ever."},
	"upgrade_required":       {"The route speaks WebSocket and the request was no handshake.", "Open a WebSocket, or use pull, acks and nacks."},
	"frame_invalid":          {"A frame on a socket is no JSON text of the documented form.", "Send an id and one of follow, acks, nacks."},
	"consumer_replaced":      {"A consumer opened a second socket, or two processes have one name; the newer one goes on.", "Give each process a name of its own."},
	"frame_unexpected":       {"A socket was told to follow a second time.", "Open another socket."},
	"rotation_conflict":      {"The key was rotated before, or is no longer valid.", "Rotate its successor."},
	"queue_draining":         {"The queue takes no new tasks.", "Wait until it is opened, or use another queue."},
	"result_pending":         {"The task has not ended.", "Ask again later, or use the SDK's wait."},
	"cancel_not_requested":   {"The report CANCELLED for an attempt nobody asked to stop.", "Report FAILED, UNKNOWN or RETURNED."},
	"lease_unknown":          {"No attempt has this number and token.", "Stop the handler's effects and claim again."},
	"task_owned_by_workflow": {"The task was made by a step of a workflow instance, which has to go on from it.", "Recover the instance; it decides about the step and the task together."},
	"task_owned_by_schedule": {"The task was made by a schedule.", "Trigger the schedule, or submit a task of your own."},
	"review_not_needed":      {"The task is not in NEEDS_REVIEW.", "Read it again; nothing has to be decided."},
	"review_decided":         {"Another reviewer was faster; `subject` names the key. A decision is final.", "Read it with `GET /v1/tasks/{task_id}/review`."},
	"task_not_retryable":     {"Only FAILED and CANCELLED tasks are retried.", "Wait for the end, review it, or submit a new task."},
	"retry_effect_unknown":   {"An attempt of the task ended UNKNOWN, so its effect may have happened. A review decides about the task and not about the attempt.", "Find out what happened outside; submit a new task if it may run again."},
	"retry_exists":           {"A task has at most one direct successor; `subject` names it.", "Retry the successor if that failed as well."},
	"source_broken":          {"The rows a task's source names do not fit. It is never shown as DIRECT instead.", "Tell the operator; the rows contradict each other."},

	"body_too_large":               {"The body is larger than the operation takes.", "Send less, or a reference to the data."},
	"text_too_large":               {"A document is larger than 256 KiB.", "Send a reference to the data."},
	"payload_too_large":            {"A payload is larger than its bound.", "Send a reference to the data."},
	"content_type_unsupported":     {"The body is not `application/json`.", "Set the header."},
	"content_encoding_unsupported": {"The body is compressed.", "Send it plain."},
	"definition_invalid":           {"The workflow definition has errors; `errors[]` lists them.", "Repair them; the [codes](../11-workflow-definition.md#findings) explain each."},
	"contract_invalid":             {"The output contract uses keywords outside the supported subset of JSON Schema.", "See [contracts](../11-workflow-definition.md#contracts)."},
	"output_contract_broken":       {"The output of a review breaks the contract the task was submitted with.", "Send an output that keeps it, or decide FAILED."},
	"timer_delay_range":            {"A TIMER's delay is computed to something that is no whole number of milliseconds within the instance's time.", "Give another input, or correct the expression and publish a new version."},
	"step_takes_no_signal":         {"The step does not exist, or waits for no signal.", "Name a SIGNAL step, or a POLL step with a final signal."},
	"signal_contract_mismatch":     {"Name or version of the signal is not the one the step waits for.", "Send the name and version of the definition; the detail states them."},
	"content_contract_broken":      {"The content does not match the contract of the signal.", "Correct the content; `errors` says where."},
	"signals_waiting_full":         {"Too many signals wait in the instance for steps that have not begun, by number (64) or by bytes (1 MiB).", "Send them when their steps wait; repeat with the same key."},
	"input_contract_broken":        {"The instance input breaks the definition's input contract.", "Correct the input."},
	"expression_path_missing":      {"A step that starts at once reads a member that this input lacks.", "Send the member, or guard the expression with `??` or `has`."},
	"expression_type_mismatch":     {"A step that starts at once combines values of unlike types.", "Correct the input, or tighten the input contract so that publishing finds it."},
	"expression_number_range":      {"A computed number has more than 100 significant digits or an exponent outside −400 to +400.", "Correct the input, or compute less."},
	"expression_budget":            {"An expression compares or builds more text than one step may.", "Make the input smaller, or move the work into a handler."},
	"value_too_large":              {"A step's computed input is larger than 256 KiB or nested deeper than 64.", "Pass a reference instead of the content."},
	"key_empty":                    {"An expression for a business or resource key gives an empty text.", "Give it a value; no key is written as `null`."},

	"quota_open_tasks":     {"The application has as many open tasks as its quota allows.", "Wait for tasks to end, or ask for a larger quota."},
	"quota_open_instances": {"The application has as many open instances as its quota allows.", "Wait for instances to end, or ask for a larger quota."},
	"quota_open_payload":   {"The inputs of open tasks fill the application's bytes.", "Wait for tasks to end, send references, or ask for a larger quota."},
	"queue_full":           {"The queue has as many open tasks as it takes.", "Wait, or raise `open_tasks_max`."},
	"node_full":            {"The node has as many requests open as it takes.", "Wait, or add a node."},
	"overloaded":           {"More requests of the namespace wait at this node than it takes.", "Wait, or add a node."},

	"internal":             {"A defect of the server. Nothing of its text leaves the log.", "Look for the request id in the node's log and report it."},
	"not_implemented":      {"This release does not serve the operation.", "See the [development plan](../08-development-plan.md)."},
	"busy":                 {"The database made the transaction wait too long. Nothing was committed.", "Repeat."},
	"database_unavailable": {"The database cannot be reached.", "Repeat; run `orbit doctor`."},
	"database_read_only":   {"The database takes no writes, as after a fail-over.", "Repeat; point the nodes at the primary."},
	"outcome_unknown":      {"The connection broke during COMMIT and could not be asked again.", "Repeat with the same key: the answer is the first receipt if it had committed."},
	"schema_mismatch":      {"The database has another schema than the node was built for.", "Stop old nodes, `orbit migrate apply`, start new nodes."},
	"node_draining":        {"The node is shutting down.", "Repeat; another node answers."},
	"request_cancelled":    {"The caller gave the request up before its answer. It may have been committed.", "Repeat with the same key."},
}
