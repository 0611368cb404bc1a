-- Rung 8. Polls and their rounds, of instances whose row is held.

-- lock: 8 step X, by primary key.
-- name: LockPolls :many
SELECT * FROM weave_poll WHERE namespace_id = ? AND instance_id IN (sqlc.slice('instance_ids')) ORDER BY instance_id, activation_id FOR UPDATE;

-- The last round of each poll, and the rounds that pending results belong to.
-- lock: 8 step X, by primary key.
-- name: LockRounds :many
SELECT * FROM weave_poll_round WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) ORDER BY task_id FOR UPDATE;

-- Writes new polls and what changes in those whose rows are held; what the first round froze never changes. {many}
-- lock: 8 step X (new or held row).
-- name: UpsertPoll :exec
INSERT INTO weave_poll (namespace_id, instance_id, activation_id, step_no, state, used_rounds, current_task_id, last_task_id, started_at, deadline_at, next_poll_at, settled_at, overdue, verdict, reason, business_key, resource_key, input, output)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE state = VALUES(state), used_rounds = VALUES(used_rounds), current_task_id = VALUES(current_task_id), last_task_id = VALUES(last_task_id), next_poll_at = VALUES(next_poll_at), settled_at = VALUES(settled_at), overdue = VALUES(overdue), verdict = VALUES(verdict), reason = VALUES(reason), output = VALUES(output);

-- Writes new rounds and the ends of rounds whose rows are held. A second row of one number is an error, not an update:
-- its task is another. {many}
-- lock: 8 step X (new or held row).
-- name: UpsertRound :exec
INSERT INTO weave_poll_round (namespace_id, task_id, instance_id, activation_id, round_no, state, created_at, deadline_at, settled_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE state = IF(task_id = VALUES(task_id), VALUES(state), NULL), settled_at = VALUES(settled_at);

-- How many rounds there are, read only where another may begin.
-- lock: none; the instances are held.
-- name: ListRoundCounts :many
SELECT activation_id, CAST(COUNT(*) AS SIGNED) AS rounds FROM weave_poll_round
WHERE namespace_id = ? AND instance_id IN (sqlc.slice('instance_ids')) GROUP BY activation_id ORDER BY activation_id;

-- lock: none.
-- name: ListPolls :many
SELECT * FROM weave_poll WHERE namespace_id = ? AND instance_id = ? AND activation_id > ? ORDER BY activation_id LIMIT ?;

-- lock: none.
-- name: ListRounds :many
SELECT * FROM weave_poll_round WHERE namespace_id = ? AND instance_id = ? ORDER BY activation_id, round_no LIMIT ?;

-- lock: none.
-- name: GetRound :one
SELECT * FROM weave_poll_round WHERE namespace_id = ? AND task_id = ?;
