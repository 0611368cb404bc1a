-- Rung 4, beside definitions and schedules. Bulk operations after the quota, before queues.

-- The operations of the pages of one transaction, in id order. Two nodes that go on with one operation meet here.
-- lock: 4 bulk X, by primary key.
-- name: LockBulkOperations :many
SELECT operation_id, application_id, queue_id, credential_id, kind, dry_run, state, want_state, cursor_at, cursor_id, scanned, did, skipped, refused, reason
FROM bulk_operation WHERE namespace_id = ? AND operation_id IN (sqlc.slice('operation_ids')) ORDER BY operation_id FOR UPDATE;

-- lock: 4 bulk X (new row).
-- name: InsertBulkOperation :execrows
INSERT INTO bulk_operation (namespace_id, operation_id, application_id, queue_id, credential_id, operation_key, digest, kind, dry_run, state, want_state, created_from, created_before,
  cursor_at, cursor_id, scanned, did, skipped, refused, created_at, business_key, handler, handler_version, failure_code, attribute_name, attribute_value, reason)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, 0, 0, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?);

-- How far an operation has come, whose row is held.
-- lock: 4 bulk X, held.
-- name: UpdateBulkOperation :execrows
UPDATE bulk_operation SET state = ?, cursor_at = ?, cursor_id = ?, scanned = ?, did = ?, skipped = ?, refused = ?, ended_at = ?, stop_code = ?
WHERE namespace_id = ? AND operation_id = ? AND state = 1;

-- lock: 4 bulk X (new row). {many}
-- name: InsertBulkItem :execrows
INSERT INTO bulk_item (namespace_id, operation_id, task_id, result, code, successor_id) VALUES (?, ?, ?, ?, ?, ?);

-- The operation of a key: guarded by the quota row, which whoever begins one holds.
-- lock: none (guarded by the quota row).
-- name: GetBulkOperationByKey :one
SELECT * FROM bulk_operation WHERE namespace_id = ? AND application_id = ? AND operation_key = ?;

-- lock: none.
-- name: GetBulkOperation :one
SELECT * FROM bulk_operation WHERE namespace_id = ? AND application_id = ? AND operation_id = ?;

-- Newest first.
-- lock: none.
-- name: ListBulkOperations :many
SELECT * FROM bulk_operation FORCE INDEX (bulk_list) WHERE namespace_id = ? AND application_id = ? AND queue_id = ? AND operation_id < ?
ORDER BY operation_id DESC LIMIT ?;

-- What every node may go on with, oldest first: one statement per tick for all namespaces.
-- unscoped: the runner serves all namespaces
-- lock: none.
-- name: ListRunningBulkOperations :many
SELECT * FROM bulk_operation FORCE INDEX (bulk_running) WHERE state = 1 ORDER BY namespace_id, operation_id LIMIT ?;

-- lock: none.
-- name: ListBulkItems :many
SELECT task_id, result, code, successor_id FROM bulk_item FORCE INDEX (PRIMARY)
WHERE namespace_id = ? AND operation_id = ? AND task_id > ? ORDER BY task_id LIMIT ?;

-- lock: none.
-- name: ListBulkItemsByResult :many
SELECT task_id, result, code, successor_id FROM bulk_item FORCE INDEX (bulk_item_result)
WHERE namespace_id = ? AND operation_id = ? AND result = ? AND task_id > ? ORDER BY task_id LIMIT ?;

-- The next tasks of a queue in order of creation. What the index does not judge is judged by the engine, so a page reads
-- a bounded number of rows however few match.
-- lock: none.
-- name: ListBulkByQueue :many
SELECT t.task_id, t.created_at, t.state, t.state_version, t.handler, t.handler_version, t.failure_code, o.state AS open_state
FROM task t FORCE INDEX (task_list) LEFT JOIN open_task o ON o.namespace_id = t.namespace_id AND o.task_id = t.task_id
WHERE t.namespace_id = ? AND t.queue_id = ? AND t.created_at >= sqlc.arg('created_from') AND t.created_at < sqlc.arg('created_before')
  AND (t.created_at > sqlc.arg('after_at') OR (t.created_at = sqlc.arg('after_at') AND t.task_id > sqlc.arg('after_id')))
ORDER BY t.created_at, t.task_id LIMIT ?;

-- lock: none.
-- name: ListBulkByState :many
SELECT t.task_id, t.created_at, t.state, t.state_version, t.handler, t.handler_version, t.failure_code, o.state AS open_state
FROM task t FORCE INDEX (task_list_state) LEFT JOIN open_task o ON o.namespace_id = t.namespace_id AND o.task_id = t.task_id
WHERE t.namespace_id = ? AND t.queue_id = ? AND t.state = ? AND t.created_at >= sqlc.arg('created_from') AND t.created_at < sqlc.arg('created_before')
  AND (t.created_at > sqlc.arg('after_at') OR (t.created_at = sqlc.arg('after_at') AND t.task_id > sqlc.arg('after_id')))
ORDER BY t.created_at, t.task_id LIMIT ?;

-- lock: none.
-- name: ListBulkByKey :many
SELECT t.task_id, t.created_at, t.state, t.state_version, t.handler, t.handler_version, t.failure_code, o.state AS open_state
FROM task t FORCE INDEX (task_list_key) LEFT JOIN open_task o ON o.namespace_id = t.namespace_id AND o.task_id = t.task_id
WHERE t.namespace_id = ? AND t.queue_id = ? AND t.business_key = ? AND t.created_at >= sqlc.arg('created_from') AND t.created_at < sqlc.arg('created_before')
  AND (t.created_at > sqlc.arg('after_at') OR (t.created_at = sqlc.arg('after_at') AND t.task_id > sqlc.arg('after_id')))
ORDER BY t.created_at, t.task_id LIMIT ?;

-- lock: none.
-- name: ListBulkByAttribute :many
SELECT t.task_id, t.created_at, t.state, t.state_version, t.handler, t.handler_version, t.failure_code, o.state AS open_state
FROM task_attribute a FORCE INDEX (PRIMARY) JOIN task t ON t.namespace_id = a.namespace_id AND t.task_id = a.task_id
LEFT JOIN open_task o ON o.namespace_id = t.namespace_id AND o.task_id = t.task_id
WHERE a.namespace_id = ? AND a.queue_id = ? AND a.name = ? AND a.value = ? AND a.created_at >= sqlc.arg('created_from') AND a.created_at < sqlc.arg('created_before')
  AND (a.created_at > sqlc.arg('after_at') OR (a.created_at = sqlc.arg('after_at') AND a.task_id > sqlc.arg('after_id')))
ORDER BY a.created_at, a.task_id LIMIT ?;

-- How large the inputs are that a page of retries would write again.
-- lock: none.
-- name: ListInputSizes :many
SELECT task_id, CAST(LENGTH(input) AS SIGNED) AS input_bytes FROM task WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) ORDER BY task_id;
