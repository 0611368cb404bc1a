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
SELECT * FROM step_wait WHERE namespace_id = ? AND instance_id = ? AND activation_id > ? ORDER BY activation_id LIMIT ?;

-- Signals that still wait for their step; a bound at acceptance keeps them few.
-- lock: 8 step X, by primary key.
-- name: LockSignals :many
SELECT * FROM weave_signal WHERE namespace_id = ? AND instance_id IN (sqlc.slice('instance_ids')) AND state = 1 ORDER BY instance_id, signal_id FOR UPDATE;

-- Writes accepted signals and the ends of signals whose rows are held; what was accepted never changes. {many}
-- lock: 8 step X (new or held row).
-- name: UpsertSignal :exec
INSERT INTO weave_signal (namespace_id, instance_id, signal_id, step_no, activation_no, signal_name, signal_version, correlation, state, classification, version, available_at, accepted_at, expires_at, settled_at, digest, audit_id, content)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE state = VALUES(state), classification = VALUES(classification), settled_at = VALUES(settled_at), version = weave_signal.version + 1;

-- Pushes a failed candidate back by its own version, in its own transaction.
-- lock: 8 step X, one row.
-- name: UpdateSignalDelayed :execrows
UPDATE weave_signal SET available_at = ?, version = version + 1
WHERE namespace_id = ? AND instance_id = ? AND signal_id = ? AND state = 1 AND version = ?;

-- How many signals instances have had, read only when one is asked to accept another.
-- lock: none; the instances are held.
-- name: ListSignalCounts :many
SELECT instance_id, CAST(COUNT(*) AS SIGNED) AS signals FROM weave_signal
WHERE namespace_id = ? AND instance_id IN (sqlc.slice('instance_ids')) GROUP BY instance_id ORDER BY instance_id;

-- What was written down when signals were accepted.
-- lock: none.
-- name: ListAuditDetails :many
SELECT audit_id, detail FROM audit WHERE namespace_id = ? AND audit_id IN (sqlc.slice('audit_ids')) ORDER BY audit_id;

-- Candidates only; nothing is granted.
-- lock: none.
-- name: ListDueSignals :many
SELECT instance_id, signal_id, version, pending_at FROM weave_signal
WHERE namespace_id = ? AND pending_at <= ? ORDER BY pending_at LIMIT ?;

-- What a failed candidate is pushed back by.
-- lock: none.
-- name: ListPendingSignalsOf :many
SELECT signal_id, version, available_at FROM weave_signal WHERE namespace_id = ? AND instance_id = ? AND state = 1 ORDER BY signal_id LIMIT ?;

-- lock: none.
-- name: ListSignals :many
SELECT * FROM weave_signal WHERE namespace_id = ? AND instance_id = ? AND signal_id > ? ORDER BY signal_id LIMIT ?;
