-- Rung 6. Instances after queues, in id order.

-- lock: 6 instance X, by primary key.
-- name: LockInstances :many
SELECT * FROM instance WHERE namespace_id = ? AND instance_id IN (sqlc.slice('instance_ids')) ORDER BY instance_id FOR UPDATE;

-- lock: 6 instance X (new row). {many}
-- name: InsertInstance :execrows
INSERT INTO instance (namespace_id, instance_id, application_id, definition, version, state, paused, revision, control_revision, reason, business_key, traceparent, deadline_at, created_at, ended_at, input, output)
VALUES (?, ?, ?, ?, ?, ?, 0, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?);

-- Writes back instances whose rows are held and whose state, reason, stop or output changed. {many}
-- lock: 6 instance X, held.
-- name: UpdateInstance :exec
INSERT INTO instance (namespace_id, instance_id, application_id, definition, version, state, paused, revision, control_revision, stop_kind, stop_requested_at, reason, deadline_at, created_at, ended_at, input, output)
VALUES (?, ?, ?, ?, ?, ?, 0, ?, 0, ?, ?, ?, ?, ?, ?, '', ?)
ON DUPLICATE KEY UPDATE state = VALUES(state), revision = VALUES(revision), stop_kind = VALUES(stop_kind), stop_requested_at = VALUES(stop_requested_at), reason = VALUES(reason), ended_at = VALUES(ended_at), output = VALUES(output);

-- An advance that leaves state, reason and output alone.
-- lock: 6 instance X, held.
-- name: UpdateInstancesRevision :execrows
UPDATE instance SET revision = revision + 1 WHERE namespace_id = ? AND instance_id IN (sqlc.slice('instance_ids'));

-- lock: 6 instance X (new row). {many}
-- name: InsertInstanceHistory :execrows
INSERT INTO instance_history (namespace_id, instance_id, revision, kind, at, actor, detail) VALUES (?, ?, ?, ?, ?, ?, ?);

-- lock: none.
-- name: GetInstance :one
SELECT * FROM instance WHERE namespace_id = ? AND instance_id = ?;

-- The definitions behind instances, read before the queues they name are locked; never changes.
-- lock: none.
-- name: ListInstanceVersions :many
SELECT instance_id, application_id, definition, version FROM instance
WHERE namespace_id = ? AND instance_id IN (sqlc.slice('instance_ids')) ORDER BY instance_id;

-- lock: none.
-- name: ListInstances :many
SELECT namespace_id, instance_id, application_id, definition, version, state, paused, revision, reason, business_key, deadline_at, created_at, ended_at
FROM instance WHERE namespace_id = ? AND application_id = ?
  AND (created_at > sqlc.arg('after_at') OR (created_at = sqlc.arg('after_at') AND instance_id > sqlc.arg('after_id')))
ORDER BY created_at, instance_id LIMIT ?;

-- lock: none.
-- name: ListInstanceHistory :many
SELECT * FROM instance_history WHERE namespace_id = ? AND instance_id = ? AND revision > ? ORDER BY revision LIMIT ?;

-- lock: none.
-- name: CountOpenInstances :one
SELECT CAST(COUNT(*) AS SIGNED) AS open_instances FROM instance WHERE namespace_id = ? AND application_id = ? AND ended_at IS NULL;
