package cli

import "strings"

// advice says what a person at the keyboard does next. A code without a line
// here is explained well enough by its detail, or by its status below.
var advice = map[string]string{
	"credential_missing":           "set ORBIT_KEY, or a key in the profile (orbit profile set)",
	"credential_invalid":           "check that ORBIT_KEY is the whole text of a key, of this server",
	"credential_expired":           "ask an administrator for a new key: orbit admin credential create",
	"credential_revoked":           "ask an administrator for a new key: orbit admin credential create",
	"scope_missing":                "orbit whoami shows what the key may do; an administrator gives another key",
	"scope_unknown":                "orbit admin credential create --help lists the scopes",
	"application_disabled":         "ask an administrator why the application is disabled",
	"namespace_disabled":           "ask an administrator why the namespace is disabled",
	"application_unknown":          "ask an administrator to give the application a quota",
	"route_not_found":              "orbit version --server shows whether the node is older than this command",
	"method_not_allowed":           "orbit version --server shows whether the node is older than this command",
	"task_not_found":               "the id may belong to another application: orbit whoami",
	"instance_not_found":           "the id may belong to another application: orbit whoami",
	"bulk_operation_not_found":     "orbit queue bulk list QUEUE shows the bulk operations of a queue",
	"queue_not_found":              "orbit queue list shows the queues; orbit queue put makes one",
	"queue_unknown":                "orbit queue list shows the queues; orbit queue put makes one",
	"workflow_not_found":           "orbit workflow list shows what is published",
	"schedule_not_found":           "orbit schedule list shows the schedules",
	"schedule_version_not_found":   "orbit schedule versions NAME shows its versions",
	"subscription_not_found":       "orbit subscription list shows the subscriptions; orbit subscription create makes one",
	"subscription_fixed":           "create another subscription; queues and order hold from the creation on",
	"subscription_active":          "orbit subscription create NAME --paused with its other settings, then seek",
	"sequence_unavailable":         "seek --to FIRST starts at the oldest result that is kept",
	"deliveries_held":              "wait until the consumers have acknowledged, or until their time has ended",
	"stream_broken":                "find out who changed stored results; then seek to a sequence that is there",
	"window_full":                  "acknowledge some first, or redeliver fewer",
	"schedule_never_due":           "orbit schedule preview shows the next times; correct the timing",
	"cron_invalid":                 "orbit schedule preview shows what an expression means",
	"time_zone_unknown":            "name an IANA time zone such as Europe/Berlin, or UTC",
	"version_not_found":            "orbit workflow versions NAME shows what is published",
	"application_not_found":        "orbit admin application list shows the applications",
	"credential_not_found":         "orbit admin credential list APPLICATION shows the keys",
	"submission_conflict":          "send exactly the first submission again, or use another --key",
	"activation_unknown":           "orbit instance steps ID shows the activation; it is 1 while the step has never begun",
	"signals_exhausted":            "orbit instance signals ID shows what was sent",
	"signals_waiting_full":         "wait until the step has begun (orbit instance waits ID), then repeat with the same key",
	"step_takes_no_signal":         "orbit instance steps ID shows the steps and their kinds",
	"signal_contract_mismatch":     "orbit instance waits ID shows what is waited for",
	"content_contract_broken":      "orbit workflow get NAME@VERSION --document shows the contract",
	"timer_delay_range":            "give another input, or correct the expression and publish a new version",
	"start_conflict":               "send exactly the first start again, or use another --key",
	"idempotency_conflict":         "use another --key for another request",
	"version_conflict":             "a version is immutable: raise \"version\" in the document and publish that",
	"revision_conflict":            "read it again, then repeat with the new version",
	"name_conflict":                "choose another name",
	"retention_invalid":            "correct the time named; forever keeps everything",
	"upgrade_required":             "open a WebSocket, or pull over HTTP",
	"frame_invalid":                "send an id and one of follow, acks, nacks",
	"consumer_replaced":            "give each process a name of its own (--consumer)",
	"frame_unexpected":             "open another socket",
	"rotation_conflict":            "orbit admin credential list shows the successor; rotate that one",
	"queue_draining":               "wait until it is open again (orbit queue get), or use another queue",
	"result_pending":               "orbit task watch ID waits for the end",
	"review_decided":               "orbit task review ID --show prints the decision that was made",
	"review_not_needed":            "orbit task get ID shows where the task is",
	"review_not_found":             "orbit task get ID shows where the task is",
	"task_owned_by_workflow":       "recover the instance the task belongs to: orbit task source ID",
	"task_owned_by_schedule":       "trigger the schedule, or submit a task of your own",
	"task_not_retryable":           "orbit task watch ID waits for the end",
	"retry_effect_unknown":         "find out what happened outside; orbit task submit makes a new task if it may run again",
	"retry_exists":                 "retry the successor instead, if that failed as well",
	"output_contract_broken":       "orbit task get ID shows the contract",
	"source_broken":                "tell the operator; the rows of the task contradict each other",
	"definition_invalid":           "orbit workflow validate --server FILE shows each finding in its line",
	"contract_invalid":             "use only the keywords of the contract subset",
	"input_contract_broken":        "orbit workflow get NAME@VERSION --document shows the input contract",
	"expression_budget":            "give another input, or correct the expression and publish a new version",
	"expression_number_range":      "give another input, or correct the expression and publish a new version",
	"expression_path_missing":      "give another input, or guard the path with ?? or has() and publish a new version",
	"expression_type_mismatch":     "give another input, or correct the expression and publish a new version",
	"key_empty":                    "give an input that fills the key",
	"value_too_large":              "pass a reference to the data, not the data",
	"cancel_not_requested":         "report what really happened; CANCELLED answers a cancel only",
	"lease_unknown":                "check task, attempt number and token; they are those of the claim",
	"request_timeout":              "repeat with the same key",
	"cursor_invalid":               "begin the list anew, without --cursor",
	"quota_open_tasks":             "wait for tasks to end, or ask an administrator for a larger quota",
	"quota_open_instances":         "wait for instances to end, or ask an administrator for a larger quota",
	"quota_open_payload":           "wait for tasks to end, or ask an administrator for a larger quota",
	"queue_full":                   "wait for tasks to end, add workers, or raise open_tasks_max: orbit queue put",
	"payload_too_large":            "pass a reference to the data, not the data",
	"text_too_large":               "pass a reference to the data, not the data",
	"body_too_large":               "send fewer items at once, or references to the data",
	"not_implemented":              "this release of the node does not serve it; see orbit version --server",
	"outcome_unknown":              "repeat with the same key: the answer then tells whether it had happened",
	"schema_mismatch":              "an operator runs orbit migrate apply",
	"database_unavailable":         "an operator runs orbit doctor",
	"database_read_only":           "an operator runs orbit doctor",
	"internal":                     "tell the operator, with the request id",
	"content_type_unsupported":     "orbit version --server shows whether the node is older than this command",
	"content_encoding_unsupported": "orbit version --server shows whether the node is older than this command",
}

// Advice is what to do next; empty when the detail already says it.
func Advice(code string, status int) string {
	switch next := advice[code]; {
	case next != "":
		return next
	case strings.HasPrefix(code, "http_"):
		return "check --url, ORBIT_URL or the profile"
	case status == 429 || status >= 500:
		return "repeat with the same key"
	case status == 400:
		return "correct the request"
	}
	return ""
}
