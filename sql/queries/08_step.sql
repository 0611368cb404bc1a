-- Rung 8. Steps, activations, inbox and checkpoints of instances whose row is held.

-- lock: 8 step X, by primary key.
-- name: LockSteps :many
SELECT * FROM step WHERE namespace_id = ? AND instance_id IN (sqlc.slice('instance_ids')) ORDER BY instance_id, step_no FOR UPDATE;

-- lock: 8 step X, by primary key.
-- name: LockActivations :many
SELECT * FROM activation WHERE namespace_id = ? AND instance_id IN (sqlc.slice('instance_ids')) ORDER BY instance_id, activation_id FOR UPDATE;

-- lock: 8 step X, by primary key.
-- name: LockInbox :many
SELECT * FROM weave_inbox WHERE namespace_id = ? AND instance_id IN (sqlc.slice('instance_ids')) AND state = 1
ORDER BY instance_id, task_id, state_version LIMIT ? FOR UPDATE;

-- lock: 8 step X, by primary key.
-- name: LockAdvances :many
SELECT * FROM weave_pending_advance WHERE namespace_id = ? AND instance_id IN (sqlc.slice('instance_ids')) ORDER BY instance_id, step_no FOR UPDATE;

-- lock: 8 step X (new row). {many}
-- name: InsertStep :execrows
INSERT INTO step (namespace_id, instance_id, step_no, name, kind, state, version, activation_no, activation_id, reason, settled_at, output)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- Writes back steps whose rows are held; every column is what the plan says. {many}
-- lock: 8 step X, held.
-- name: UpdateStep :exec
INSERT INTO step (namespace_id, instance_id, step_no, name, kind, state, version, activation_no, activation_id, reason, settled_at, output)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE state = VALUES(state), version = VALUES(version), activation_no = VALUES(activation_no), activation_id = VALUES(activation_id), reason = VALUES(reason), settled_at = VALUES(settled_at), output = VALUES(output);

-- Writes new activations and the ends of activations whose rows are held; nothing else of one can change. {many}
-- lock: 8 step X (new or held row).
-- name: UpsertActivation :exec
INSERT INTO activation (namespace_id, instance_id, activation_id, step_no, activation_no, task_id, deadline_at, created_at, settled_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE settled_at = VALUES(settled_at);

-- lock: 8 step X (new row). {many} Written with the task's result, before the stream; locks no instance.
-- name: InsertInbox :execrows
INSERT INTO weave_inbox (namespace_id, instance_id, task_id, state_version, activation_id, state, version, available_at, task_state, attempt_no, failure_code, failure_message, occurred_at, snapshot_digest, output)
VALUES (?, ?, ?, ?, ?, 1, 1, ?, ?, ?, ?, ?, ?, ?, ?);

-- Confirms or quarantines rows that are held and pending; the frozen snapshot stays as it is. {many}
-- lock: 8 step X, held.
-- name: UpdateInboxConsumed :exec
INSERT INTO weave_inbox (namespace_id, instance_id, task_id, state_version, activation_id, state, classification, version, available_at, task_state, attempt_no, occurred_at, snapshot_digest)
VALUES (?, ?, ?, ?, '', ?, ?, 1, ?, 0, 0, ?, '')
ON DUPLICATE KEY UPDATE state = VALUES(state), classification = VALUES(classification), version = weave_inbox.version + 1;

-- Pushes a failed candidate back by its own version, in its own transaction.
-- lock: 8 step X, one row.
-- name: UpdateInboxDelayed :execrows
UPDATE weave_inbox SET available_at = ?, version = version + 1
WHERE namespace_id = ? AND instance_id = ? AND task_id = ? AND state_version = ? AND state = 1 AND version = ?;

-- lock: 8 step X (new or held row). {many}
-- name: UpsertAdvance :exec
INSERT INTO weave_pending_advance (namespace_id, instance_id, step_no, kind, activation_id, step_version, version, due_at)
VALUES (?, ?, ?, ?, ?, ?, 1, ?)
ON DUPLICATE KEY UPDATE kind = VALUES(kind), activation_id = VALUES(activation_id), step_version = VALUES(step_version), version = weave_pending_advance.version + 1, due_at = VALUES(due_at);

-- lock: 8 step X, one row.
-- name: UpdateAdvanceDelayed :execrows
UPDATE weave_pending_advance SET due_at = ?, version = version + 1
WHERE namespace_id = ? AND instance_id = ? AND step_no = ? AND version = ?;

-- The checkpoints of one step number, 0 being the root, of many instances.
-- lock: 8 step X, held.
-- name: DeleteAdvances :execrows
DELETE FROM weave_pending_advance WHERE namespace_id = ? AND instance_id IN (sqlc.slice('instance_ids')) AND step_no = ?;

-- The highest version already processed of each task, read only when a row comes for a step that is not active.
-- lock: none; the instances are held.
-- name: ListHandledVersions :many
SELECT instance_id, task_id, CAST(MAX(state_version) AS UNSIGNED) AS state_version FROM weave_inbox
WHERE namespace_id = ? AND instance_id IN (sqlc.slice('instance_ids')) AND state <> 1 GROUP BY instance_id, task_id ORDER BY instance_id, task_id;

-- What a failed candidate is pushed back by.
-- lock: none.
-- name: ListPendingInboxOf :many
SELECT task_id, state_version, version FROM weave_inbox
WHERE namespace_id = ? AND instance_id = ? AND state = 1 ORDER BY task_id, state_version LIMIT ?;

-- lock: none.
-- name: ListAdvancesOf :many
SELECT step_no, kind, version, due_at FROM weave_pending_advance WHERE namespace_id = ? AND instance_id = ? ORDER BY step_no LIMIT ?;

-- Candidates only; nothing is granted.
-- lock: none.
-- name: ListDueInbox :many
SELECT instance_id, task_id, state_version, version, pending_at FROM weave_inbox
WHERE namespace_id = ? AND pending_at <= ? ORDER BY pending_at LIMIT ?;

-- Candidates only, and behind them what is due soon; nothing is granted.
-- lock: none.
-- name: ListDueAdvances :many
SELECT instance_id, step_no, version, due_at FROM weave_pending_advance
WHERE namespace_id = ? AND due_at <= sqlc.arg('until_at') AND due_at >= sqlc.arg('after_at')
  AND (due_at > sqlc.arg('after_at') OR instance_id > sqlc.arg('after_id')) ORDER BY due_at, instance_id LIMIT ?;

-- lock: none.
-- name: ListSteps :many
SELECT * FROM step WHERE namespace_id = ? AND instance_id = ? AND step_no > ? ORDER BY step_no LIMIT ?;

-- lock: none.
-- name: ListActivations :many
SELECT * FROM activation WHERE namespace_id = ? AND instance_id = ? ORDER BY activation_id LIMIT ?;

-- lock: none.
-- name: GetActivation :one
SELECT * FROM activation WHERE namespace_id = ? AND instance_id = ? AND activation_id = ?;

-- lock: none.
-- name: ListInbox :many
SELECT task_id, state_version, activation_id, state, classification, task_state, attempt_no, failure_code, occurred_at FROM weave_inbox
WHERE namespace_id = ? AND instance_id = ? ORDER BY task_id, state_version LIMIT ?;

-- lock: none.
-- name: ListStepNames :many
SELECT step_no, name FROM step WHERE namespace_id = ? AND instance_id = ? ORDER BY step_no LIMIT ?;
