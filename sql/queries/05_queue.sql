-- Rung 5. Queues after quota, sorted by id.

-- Locks the queues of one transaction and reads its one clock. SYSDATE is read after the lock wait, NOW would be before it.
-- lock: 5 queue X, by primary key.
-- name: LockQueues :many
SELECT queue_id, application_id, name, open_tasks_max, running_attempts_max, paused, draining, rate_limited, open_tasks, running_attempts, version, created_at, SYSDATE(6) AS now_at
FROM queue WHERE namespace_id = ? AND queue_id IN (sqlc.slice('queue_ids'))
ORDER BY queue_id FOR UPDATE;

-- Writes back the counters of queues locked by LockQueues. {many}
-- lock: 5 queue X, held.
-- name: UpdateQueueCounters :exec
INSERT INTO queue (namespace_id, queue_id, application_id, name, open_tasks_max, running_attempts_max, paused, draining, rate_limited, open_tasks, running_attempts, version, created_at)
VALUES (?, ?, ?, ?, 0, 0, 0, 0, 0, ?, ?, 0, ?)
ON DUPLICATE KEY UPDATE open_tasks = VALUES(open_tasks), running_attempts = VALUES(running_attempts);

-- lock: 5 queue X (new row).
-- name: InsertQueue :execrows
INSERT INTO queue (namespace_id, queue_id, application_id, name, open_tasks_max, running_attempts_max, paused, draining, rate_limited, open_tasks, running_attempts, version, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 1, ?);

-- lock: 5 queue X, held.
-- name: UpdateQueueSettings :execrows
UPDATE queue SET open_tasks_max = ?, running_attempts_max = ?, paused = ?, draining = ?, rate_limited = ?, version = version + 1
WHERE namespace_id = ? AND queue_id = ? AND version = ?;

-- lock: none; names never change their queue.
-- name: GetQueueByName :one
SELECT queue_id, application_id, name, open_tasks_max, running_attempts_max, paused, draining, rate_limited, open_tasks, running_attempts, version, created_at
FROM queue WHERE namespace_id = ? AND application_id = ? AND name = ?;

-- lock: none.
-- name: ListQueues :many
SELECT queue_id, application_id, name, open_tasks_max, running_attempts_max, paused, draining, rate_limited, open_tasks, running_attempts, version, created_at
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

-- The rates of limited queues of a claim, locked with their queues: they are written behind the tasks.
-- lock: 5 queue X (rates, by primary key, under their queues).
-- name: LockQueueRates :many
SELECT queue_id, tokens, period_ms, burst, credit, refilled_at FROM queue_rate
WHERE namespace_id = ? AND queue_id IN (sqlc.slice('queue_ids')) ORDER BY queue_id FOR UPDATE;

-- The rates of limited queues: settings and what is left. Exact where the queue rows are held.
-- lock: none (guarded by the queue row).
-- name: ListQueueRates :many
SELECT queue_id, tokens, period_ms, burst, credit, refilled_at FROM queue_rate
WHERE namespace_id = ? AND queue_id IN (sqlc.slice('queue_ids')) ORDER BY queue_id;

-- Writes settings and state of a rate whose queue row is held. {many}
-- lock: 5 queue X (rate, by primary key, under its queue).
-- name: PutQueueRate :exec
INSERT INTO queue_rate (namespace_id, queue_id, tokens, period_ms, burst, credit, refilled_at) VALUES (?, ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE tokens = VALUES(tokens), period_ms = VALUES(period_ms), burst = VALUES(burst), credit = VALUES(credit), refilled_at = VALUES(refilled_at);

-- lock: 5 queue X (rate, by primary key, under its queue).
-- name: DeleteQueueRate :exec
DELETE FROM queue_rate WHERE namespace_id = ? AND queue_id = ?;

-- Why queues are paused or drained, for operators.
-- lock: none.
-- name: ListQueueHolds :many
SELECT kind, reason, held_by, held_at FROM queue_hold WHERE namespace_id = ? AND queue_id = ? ORDER BY kind;

-- Keeps why a queue is paused or drained.
-- lock: 5 queue X (hold, by primary key, under its queue).
-- name: PutQueueHold :exec
INSERT INTO queue_hold (namespace_id, queue_id, kind, reason, held_by, held_at) VALUES (?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE reason = VALUES(reason), held_by = VALUES(held_by), held_at = VALUES(held_at);

-- lock: 5 queue X (hold, by primary key, under its queue).
-- name: DeleteQueueHold :exec
DELETE FROM queue_hold WHERE namespace_id = ? AND queue_id = ? AND kind = ?;
