-- What is kept for how long. A purge holds this row and nothing else that anyone waits for: rows of ended work are not
-- locked by those who do the work, and the few who come back to an ended task lock its row shared (09_task).

-- Makes the row where there is none, so that there is always one to wait for.
-- lock: 14 retention X, by primary key.
-- name: PutRetentionRow :exec
INSERT INTO retention (namespace_id, tasks_ms, stream_ms, receipts_ms, audit_ms, version, first_seq, receipt_application, receipt_kind, receipt_key, audit_after, tasks_removed, entries_removed, receipts_removed, audit_removed, changed_at)
VALUES (?, 0, 0, 0, 0, 0, 1, 0, 0, '', ?, 0, 0, 0, 0, SYSDATE(6))
ON DUPLICATE KEY UPDATE first_seq = first_seq;

-- lock: 14 retention X, by primary key.
-- name: LockRetention :one
SELECT sqlc.embed(retention), SYSDATE(6) AS now_at FROM retention WHERE namespace_id = ? FOR UPDATE;

-- lock: none.
-- name: GetRetention :one
SELECT * FROM retention WHERE namespace_id = ?;

-- lock: 14 retention X, held.
-- name: UpdateRetentionSettings :execrows
UPDATE retention SET tasks_ms = ?, stream_ms = ?, receipts_ms = ?, audit_ms = ?, version = version + 1, changed_at = ? WHERE namespace_id = ?;

-- lock: 14 retention X, held.
-- name: UpdateRetentionProgress :execrows
UPDATE retention SET first_seq = ?, receipt_application = ?, receipt_kind = ?, receipt_key = ?, audit_after = ?, tasks_removed = ?, entries_removed = ?, receipts_removed = ?, audit_removed = ?
WHERE namespace_id = ?;

-- The namespaces in which something ends by itself.
-- lock: none.
-- unscoped: a node keeps all namespaces.
-- name: ListRetentions :many
SELECT * FROM retention WHERE tasks_ms > 0 OR stream_ms > 0 OR receipts_ms > 0 OR audit_ms > 0 ORDER BY namespace_id;

-- The smallest number each subscription may still ask for, at one moment. Nobody there: no row.
-- lock: none (guarded by the retention row against those who move back; all others only move on).
-- name: ListStreamHolders :many
SELECT subscription_id, application_id, name, CAST(MIN(seq) AS UNSIGNED) AS seq FROM (
  SELECT s.subscription_id, s.application_id, s.name, s.next_seq AS seq FROM subscription s WHERE s.namespace_id = sqlc.arg('namespace_id')
  UNION ALL
  SELECT s.subscription_id, s.application_id, s.name, d.seq FROM subscription s
  JOIN subscription_delivery d ON d.namespace_id = s.namespace_id AND d.subscription_id = s.subscription_id WHERE s.namespace_id = sqlc.arg('namespace_id')
  UNION ALL
  SELECT s.subscription_id, s.application_id, s.name, l.seq FROM subscription s
  JOIN subscription_dead_letter l ON l.namespace_id = s.namespace_id AND l.subscription_id = s.subscription_id WHERE s.namespace_id = sqlc.arg('namespace_id')
) AS wanted GROUP BY subscription_id, application_id, name ORDER BY seq, subscription_id;

-- The oldest results, which go first.
-- lock: none (never rewritten; deleted only under the retention row).
-- name: ListOldestEntries :many
SELECT seq, task_id, state, at FROM stream_entry WHERE namespace_id = ? AND seq < sqlc.arg('before_seq') ORDER BY seq LIMIT ?;

-- lock: 14 retention X, held.
-- name: DeleteStreamEntries :execrows
DELETE FROM stream_entry WHERE namespace_id = ? AND seq >= sqlc.arg('from_seq') AND seq < sqlc.arg('before_seq');

-- Tasks whose results nobody can be given any more. {many}
-- lock: 14 retention X, held.
-- name: InsertEndedTask :execrows
INSERT INTO ended_task (namespace_id, look_at, task_id) VALUES (?, ?, ?);

-- The tasks whose time is over, with what may still need them: an open instance, or the task that repeats them.
-- lock: none (deleted only under the retention row).
-- name: ListOverdueTasks :many
SELECT e.look_at, e.task_id, t.state, CAST(i.instance_id IS NOT NULL AS SIGNED) AS instance_open, CAST(s.task_id IS NOT NULL AS SIGNED) AS successor_kept
FROM ended_task e
JOIN task t ON t.namespace_id = e.namespace_id AND t.task_id = e.task_id
LEFT JOIN instance i ON t.source = 4 AND i.namespace_id = t.namespace_id AND i.instance_id = t.gate_id AND i.state IN (1, 5, 6)
LEFT JOIN task_retry r ON r.namespace_id = e.namespace_id AND r.task_id = e.task_id
LEFT JOIN task s ON s.namespace_id = r.namespace_id AND s.task_id = r.successor_id
WHERE e.namespace_id = ? AND e.look_at < sqlc.arg('before_at') ORDER BY e.look_at, e.task_id LIMIT ?;

-- lock: 14 retention X, held.
-- name: UpdateEndedTask :execrows
UPDATE ended_task SET look_at = sqlc.arg('later_at') WHERE namespace_id = ? AND look_at = ? AND task_id = ?;

-- lock: 14 retention X, held.
-- name: DeleteEndedTasks :execrows
DELETE FROM ended_task WHERE namespace_id = ? AND look_at < sqlc.arg('before_at') AND task_id IN (sqlc.slice('task_ids'));

-- lock: 14 retention X, held; attempts of ended tasks, which nobody writes.
-- name: DeleteAttempts :exec
DELETE FROM attempt WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids'));

-- lock: 14 retention X, held; events of ended tasks, which nobody writes.
-- name: DeleteTaskEvents :exec
DELETE FROM task_event WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids'));

-- lock: 14 retention X, held; who writes evidence holds the task shared.
-- name: DeleteLateEvidence :exec
DELETE FROM late_evidence WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids'));

-- lock: 14 retention X, held.
-- name: DeleteTaskReviews :exec
DELETE FROM task_review WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids'));

-- lock: 14 retention X, held; who retries holds the task shared.
-- name: DeleteTaskRetries :exec
DELETE FROM task_retry WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids'));

-- lock: 14 retention X, held.
-- name: DeleteTaskAttributes :exec
DELETE FROM task_attribute WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids'));

-- lock: 14 retention X, held.
-- name: DeleteTaskProgress :exec
DELETE FROM task_progress WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids'));

-- The rows themselves, first of all: who comes back to an ended task holds them shared, and waits or is waited for.
-- lock: 14 retention X, held, then 9 task X (ended, by primary key).
-- name: DeleteEndedTaskRows :execrows
DELETE FROM task WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) AND state IN (2, 3, 4);

-- A page of receipts behind the cursor, with what may still need them.
-- lock: none (a receipt is never rewritten).
-- name: ListReceiptPage :many
SELECT r.application_id, r.kind, r.receipt_key, r.created_at, CAST(r.kind = 3 OR o.task_id IS NOT NULL OR i.instance_id IS NOT NULL AS SIGNED) AS needed
FROM receipt r
LEFT JOIN open_task o ON o.namespace_id = r.namespace_id AND o.task_id = r.subject_id
LEFT JOIN instance i ON i.namespace_id = r.namespace_id AND i.instance_id = r.subject_id AND i.state IN (1, 5, 6)
WHERE r.namespace_id = sqlc.arg('namespace_id') AND (r.application_id > sqlc.arg('application_id')
   OR (r.application_id = sqlc.arg('application_id') AND r.kind > sqlc.arg('kind'))
   OR (r.application_id = sqlc.arg('application_id') AND r.kind = sqlc.arg('kind') AND r.receipt_key > sqlc.arg('receipt_key')))
ORDER BY r.application_id, r.kind, r.receipt_key LIMIT ?;

-- lock: 14 retention X, held; receipts whose time is over, by primary key.
-- name: DeleteReceipts :execrows
DELETE FROM receipt WHERE namespace_id = ? AND application_id = ? AND kind = ? AND receipt_key IN (sqlc.slice('receipt_keys')) AND created_at < sqlc.arg('before_at');

-- A page of the audit. Its numbers are times, so the oldest come first.
-- lock: none (never rewritten).
-- name: ListAuditPage :many
SELECT audit_id, subject, at FROM audit WHERE namespace_id = ? AND audit_id > ? ORDER BY audit_id LIMIT ?;

-- lock: 14 retention X, held.
-- name: DeleteAudit :execrows
DELETE FROM audit WHERE namespace_id = ? AND audit_id IN (sqlc.slice('audit_ids'));

-- Which of these tasks are open.
-- lock: none (an ended task does not open again).
-- name: ListOpenAmong :many
SELECT task_id FROM open_task WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) ORDER BY task_id;

-- Which of these instances are open.
-- lock: none (an ended instance does not open again).
-- name: ListOpenInstancesAmong :many
SELECT instance_id FROM instance WHERE namespace_id = ? AND instance_id IN (sqlc.slice('instance_ids')) AND state IN (1, 5, 6) ORDER BY instance_id;

-- The oldest bulk operations that ended before a time.
-- lock: none (an operation that has ended is never written again).
-- name: ListOldBulkOperations :many
SELECT operation_id FROM bulk_operation FORCE INDEX (bulk_running)
WHERE namespace_id = ? AND state IN (2, 3) AND ended_at < sqlc.arg('ended_before') ORDER BY state, operation_id LIMIT ?;

-- lock: 14 retention X, held.
-- name: DeleteBulkItems :execrows
DELETE FROM bulk_item WHERE namespace_id = ? AND operation_id = ? ORDER BY task_id LIMIT ?;

-- lock: 14 retention X, held.
-- name: DeleteBulkOperation :execrows
DELETE FROM bulk_operation WHERE namespace_id = ? AND operation_id = ? AND state IN (2, 3);
