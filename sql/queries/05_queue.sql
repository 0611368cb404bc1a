-- Rung 5. Queues after quota, sorted by id.

-- Locks the queues of one transaction and reads its one clock. SYSDATE is read after the lock wait, NOW would be before it.
-- lock: 5 queue X, by primary key.
-- name: LockQueues :many
SELECT queue_id, application_id, name, open_tasks_max, running_attempts_max, paused, draining, open_tasks, running_attempts, version, created_at, SYSDATE(6) AS now_at
FROM queue WHERE namespace_id = ? AND queue_id IN (sqlc.slice('queue_ids'))
ORDER BY queue_id FOR UPDATE;

-- Writes back the counters of queues locked by LockQueues. {many}
-- lock: 5 queue X, held.
-- name: UpdateQueueCounters :exec
INSERT INTO queue (namespace_id, queue_id, application_id, name, open_tasks_max, running_attempts_max, paused, draining, open_tasks, running_attempts, version, created_at)
VALUES (?, ?, ?, ?, 0, 0, 0, 0, ?, ?, 0, ?)
ON DUPLICATE KEY UPDATE open_tasks = VALUES(open_tasks), running_attempts = VALUES(running_attempts);

-- lock: 5 queue X (new row).
-- name: InsertQueue :execrows
INSERT INTO queue (namespace_id, queue_id, application_id, name, open_tasks_max, running_attempts_max, paused, draining, open_tasks, running_attempts, version, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 1, ?);

-- lock: 5 queue X, held.
-- name: UpdateQueueSettings :execrows
UPDATE queue SET open_tasks_max = ?, running_attempts_max = ?, paused = ?, draining = ?, version = version + 1
WHERE namespace_id = ? AND queue_id = ? AND version = ?;

-- lock: none; names never change their queue.
-- name: GetQueueByName :one
SELECT queue_id, application_id, name, open_tasks_max, running_attempts_max, paused, draining, open_tasks, running_attempts, version, created_at
FROM queue WHERE namespace_id = ? AND application_id = ? AND name = ?;

-- lock: none.
-- name: ListQueues :many
SELECT queue_id, application_id, name, open_tasks_max, running_attempts_max, paused, draining, open_tasks, running_attempts, version, created_at
FROM queue WHERE namespace_id = ? AND application_id = ? AND name > ? ORDER BY name LIMIT ?;

-- The queues the runner scans, without a lock.
-- lock: none.
-- name: ListQueueIDs :many
SELECT queue_id, application_id, running_attempts, open_tasks FROM queue WHERE namespace_id = ? AND queue_id > ? ORDER BY queue_id LIMIT ?;

-- Open tasks by state and the oldest of each, for operators.
-- lock: none.
-- name: CountQueueStates :many
SELECT state, CAST(COUNT(*) AS SIGNED) AS tasks, CAST(MIN(available_at) AS DATETIME(6)) AS oldest_available_at, NOW(6) AS now_at
FROM open_task WHERE namespace_id = ? AND queue_id = ? GROUP BY state ORDER BY state;
