-- Rung 2. The quota row comes before every queue row (O5).

-- Locks the quotas of all applications of one transaction, in application order.
-- lock: 2 quota X, by primary key.
-- name: LockQuotas :many
SELECT application_id, open_tasks_max, running_attempts_max, open_instances_max, open_payload_bytes_max,
       open_tasks, running_attempts, open_instances, open_payload_bytes
FROM quota WHERE namespace_id = ? AND application_id IN (sqlc.slice('application_ids'))
ORDER BY application_id FOR UPDATE;

-- Writes back the counters of quotas locked by LockQuotas. {many}
-- lock: 2 quota X, held.
-- name: UpdateQuotaCounters :exec
INSERT INTO quota (namespace_id, application_id, open_tasks_max, running_attempts_max, open_instances_max, open_payload_bytes_max, open_tasks, running_attempts, open_instances, open_payload_bytes)
VALUES (?, ?, 0, 0, 0, 0, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE open_tasks = VALUES(open_tasks), running_attempts = VALUES(running_attempts), open_instances = VALUES(open_instances), open_payload_bytes = VALUES(open_payload_bytes);

-- lock: 2 quota X (new row).
-- name: InsertQuota :execrows
INSERT INTO quota (namespace_id, application_id, open_tasks_max, running_attempts_max, open_instances_max, open_payload_bytes_max, open_tasks, running_attempts, open_instances, open_payload_bytes)
VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, 0);

-- lock: 2 quota X, one row.
-- name: UpdateQuotaLimits :execrows
UPDATE quota SET open_tasks_max = ?, running_attempts_max = ?, open_instances_max = ?, open_payload_bytes_max = ?
WHERE namespace_id = ? AND application_id = ?;

-- lock: none.
-- name: GetQuota :one
SELECT application_id, open_tasks_max, running_attempts_max, open_instances_max, open_payload_bytes_max,
       open_tasks, running_attempts, open_instances, open_payload_bytes
FROM quota WHERE namespace_id = ? AND application_id = ?;

-- What the counters must be, from the rows. For the doctor and for tests.
-- lock: none.
-- name: CountQuotaUsage :one
SELECT CAST(COUNT(*) AS SIGNED) AS open_tasks, CAST(COALESCE(SUM(state = 2), 0) AS SIGNED) AS running_attempts,
       CAST(COALESCE(SUM(input_bytes), 0) AS SIGNED) AS open_payload_bytes
FROM open_task WHERE namespace_id = ? AND application_id = ?;
