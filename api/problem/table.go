package problem

import "sort"

// CodeInternal is what everything unexpected becomes.
const CodeInternal = "internal"

// row is one line of the one table: HTTP status, title, and how long to wait before the same request may succeed.
type row struct {
	status  int
	title   string
	retryMS int64
}

// table maps every code to its row. Sorted by status, then by subject; docs/api/problems is printed from it.
var table = map[string]row{
	// 400: the request is wrong and was refused before any SQL.
	"text_syntax":        {400, "The body is not JSON", 0},
	"text_duplicate_key": {400, "A JSON object repeats a name", 0},
	"text_depth":         {400, "The JSON is nested too deeply", 0},
	"text_encoding":      {400, "The text is not clean UTF-8", 0},
	"number_range":       {400, "A number is outside the exact domain", 0},
	"body_missing":       {400, "The request needs a body", 0},
	"body_unexpected":    {400, "The operation takes no body", 0},
	"field_unknown":      {400, "The request has a field that does not exist", 0},
	"field_missing":      {400, "A required field is missing", 0},
	"field_type":         {400, "A field has the wrong type", 0},
	"field_range":        {400, "A number is outside its range", 0},
	"field_length":       {400, "A text or list has the wrong length", 0},
	"field_pattern":      {400, "A text has the wrong form", 0},
	"field_enum":         {400, "A text is not one of the allowed values", 0},
	"id_invalid":         {400, "The id is of the wrong kind or form", 0},
	"parameter_unknown":  {400, "The operation has no such parameter", 0},
	"parameter_missing":  {400, "A required parameter is missing", 0},
	"parameter_invalid":  {400, "A parameter has the wrong form", 0},
	"header_invalid":     {400, "A header has the wrong form", 0},
	"cursor_invalid":     {400, "The cursor does not belong to this list and these filters", 0},
	"request_invalid":    {400, "The request contradicts itself", 0},
	"cron_invalid":       {400, "The cron expression is wrong", 0},
	"time_zone_unknown":  {400, "There is no such time zone", 0},
	"path_invalid":       {400, "The path is not clean", 0},

	// 401, 403: who asks, and what it may do.
	"credential_missing":   {401, "The request carries no key", 0},
	"credential_invalid":   {401, "The key is not known", 0},
	"credential_expired":   {401, "The key has expired", 0},
	"credential_revoked":   {401, "The key was revoked", 0},
	"scope_missing":        {403, "The key lacks the scope of this operation", 0},
	"scope_unknown":        {400, "A scope does not exist", 0},
	"application_disabled": {403, "The application is disabled", 0},
	"namespace_disabled":   {403, "The namespace is disabled", 0},

	// 404, 405: nothing there. Another namespace's object answers exactly like one that never existed (O12).
	"route_not_found":            {404, "There is no such route", 0},
	"task_not_found":             {404, "There is no such task", 0},
	"review_not_found":           {404, "Nobody has reviewed the task", 0},
	"bulk_operation_not_found":   {404, "There is no such bulk operation", 0},
	"queue_not_found":            {404, "There is no such queue", 0},
	"schedule_never_due":         {422, "The schedule would never be due", 0},
	"queue_unknown":              {422, "The queue does not exist", 0},
	"workflow_not_found":         {404, "There is no such workflow", 0},
	"version_not_found":          {404, "There is no such workflow version", 0},
	"schedule_not_found":         {404, "There is no such schedule", 0},
	"schedule_version_not_found": {404, "There is no such schedule version", 0},
	"instance_not_found":         {404, "There is no such instance", 0},
	"application_unknown":        {403, "The application has no quota", 0},
	"application_not_found":      {404, "There is no such application", 0},
	"credential_not_found":       {404, "There is no such key", 0},
	"subscription_not_found":     {404, "There is no such subscription", 0},
	"method_not_allowed":         {405, "The route does not take this method", 0},
	"request_timeout":            {408, "The request took too long to arrive", 1000},

	// 409: the request is fine, the state is not.
	"submission_conflict":    {409, "The submit key was used for another submission", 0},
	"activation_unknown":     {409, "The step has no such activation yet", 0},
	"signals_exhausted":      {409, "The instance has had all signals it may have", 0},
	"start_conflict":         {409, "The start key was used for another start", 0},
	"idempotency_conflict":   {409, "The idempotency key was used for another request", 0},
	"version_conflict":       {409, "The version was published with other content", 0},
	"revision_conflict":      {409, "The object changed since it was read", 0},
	"name_conflict":          {409, "The name is taken", 0},
	"retention_invalid":      {400, "The times to keep cannot be", 0},
	"upgrade_required":       {426, "A WebSocket handshake is needed", 0},
	"frame_invalid":          {400, "A frame cannot be read", 0},
	"consumer_replaced":      {409, "Another socket follows under this consumer's name", 0},
	"frame_unexpected":       {409, "The frame does not fit the state of the socket", 0},
	"rotation_conflict":      {409, "The key was already rotated", 0},
	"queue_draining":         {409, "The queue is draining and takes no new tasks", 0},
	"result_pending":         {409, "The task has no result yet", 1000},
	"cancel_not_requested":   {409, "Nobody asked the attempt to stop", 0},
	"lease_unknown":          {409, "No attempt has this number and token", 0},
	"task_owned_by_workflow": {409, "The task belongs to a workflow instance", 0},
	"task_owned_by_schedule": {409, "The task belongs to a schedule", 0},
	"review_not_needed":      {409, "The task does not wait for a review", 0},
	"review_decided":         {409, "Somebody has decided about the task already", 0},
	"task_not_retryable":     {409, "The task is not in a state that can be retried", 0},
	"retry_effect_unknown":   {409, "An effect of the task is unknown", 0},
	"retry_exists":           {409, "The task was retried already", 0},
	"subscription_fixed":     {409, "The selection and the order of a subscription cannot be changed", 0},
	"subscription_active":    {409, "The subscription is not paused", 0},
	"deliveries_held":        {409, "Consumers hold deliveries of the subscription", 1000},
	"window_full":            {409, "The subscription has as many unacknowledged deliveries as its window", 1000},
	"sequence_unavailable":   {409, "The stream does not hold this number", 0},
	"stream_broken":          {409, "The stream does not continue where the subscription stopped", 0},
	"source_broken":          {409, "The task's source does not resolve", 0},

	// 413, 415, 422, 431.
	"body_too_large":               {413, "The body is larger than the operation takes", 0},
	"text_too_large":               {413, "A payload is larger than allowed", 0},
	"payload_too_large":            {413, "A payload is larger than allowed", 0},
	"content_type_unsupported":     {415, "The content type is not supported", 0},
	"content_encoding_unsupported": {415, "Compressed bodies are not supported", 0},
	"definition_invalid":           {422, "The definition has errors", 0},
	"contract_invalid":             {422, "The contract is not in the supported subset of JSON Schema", 0},
	"output_contract_broken":       {422, "The output breaks the task's contract", 0},
	"input_contract_broken":        {422, "The input breaks the definition's contract", 0},
	"timer_delay_range":            {422, "A computed delay is not a whole number of milliseconds in range", 0},
	"step_takes_no_signal":         {422, "The step does not wait for signals", 0},
	"signal_contract_mismatch":     {422, "The step waits for another signal or version", 0},
	"content_contract_broken":      {422, "The content breaks the signal's contract", 0},
	"expression_path_missing":      {422, "An expression of the first steps reads what the input does not have", 0},
	"expression_type_mismatch":     {422, "An expression of the first steps meets a value of another type", 0},
	"expression_number_range":      {422, "An expression of the first steps leaves the number domain", 0},
	"expression_budget":            {422, "An expression of the first steps costs more than allowed", 0},
	"value_too_large":              {422, "A computed value is larger than a payload may be", 0},
	"key_empty":                    {422, "A business or resource key is computed to nothing", 0},

	// 429: a limit was met; waiting helps.
	"quota_open_tasks":     {429, "The application has as many open tasks as its quota allows", 1000},
	"quota_open_instances": {429, "The application has as many open instances as its quota allows", 1000},
	"quota_open_payload":   {429, "The application holds as many payload bytes as its quota allows", 1000},
	"queue_full":           {429, "The queue holds as many open tasks as it allows", 1000},
	"signals_waiting_full": {429, "As many signals wait unread as may wait in one instance", 1000},
	"node_full":            {429, "The node has as many requests open as it takes", 200},
	"overloaded":           {429, "The node has as many requests waiting as it takes", 200},

	// 5xx: ours. Repeating with the same key is safe.
	CodeInternal:           {500, "The server met something it did not expect", 0},
	"not_implemented":      {501, "This node does not serve the operation", 0},
	"busy":                 {503, "The database is busy", 200},
	"database_unavailable": {503, "The database cannot be reached", 1000},
	"database_read_only":   {503, "The database is read-only", 1000},
	"outcome_unknown":      {503, "It is not known whether the request was committed; ask again with the same key", 200},
	"schema_mismatch":      {503, "The database has another schema than this node", 5000},
	"node_draining":        {503, "The node is shutting down; another one will answer", 200},
	"request_cancelled":    {503, "The request was given up before its answer", 200},
}

// Codes lists every code in alphabetical order, for the documentation and the tests.
func Codes() []string {
	codes := make([]string, 0, len(table))
	for code := range table {
		codes = append(codes, code)
	}
	sort.Strings(codes)
	return codes
}

// Known reports whether a code is in the table.
func Known(code string) bool { _, ok := table[code]; return ok }
