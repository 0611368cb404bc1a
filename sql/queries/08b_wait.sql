-- Rung 8. Waits of instances whose row is held.

-- lock: 8 step X, by primary key.
-- name: LockWaits :many
SELECT * FROM step_wait WHERE namespace_id = ? AND instance_id IN (sqlc.slice('instance_ids')) ORDER BY instance_id, activation_id FOR UPDATE;

-- Writes new waits and the ends of waits whose rows are held; nothing else of one can change. {many}
-- lock: 8 step X (new or held row).
-- name: UpsertWait :exec
INSERT INTO step_wait (namespace_id, instance_id, activation_id, step_no, kind, state, started_at, duration_ms, deadline_at, settled_at, signal_name, signal_version, correlation, winner_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE state = VALUES(state), settled_at = VALUES(settled_at), winner_id = VALUES(winner_id);

-- lock: none.
-- name: ListWaits :many
SELECT * FROM step_wait WHERE namespace_id = ? AND instance_id = ? ORDER BY activation_id LIMIT ?;
