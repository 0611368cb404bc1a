-- Rung 4. Published definitions; versions never change once written.

-- Makes sure the head exists, so that two publishers meet at its row.
-- lock: 4 definition X (new or held row).
-- name: InsertDefinition :exec
INSERT INTO workflow_definition (namespace_id, application_id, name, latest_version, revision, created_at, updated_at)
VALUES (?, ?, ?, 0, 0, ?, ?) ON DUPLICATE KEY UPDATE revision = revision;

-- lock: 4 definition X, by primary key.
-- name: LockDefinition :one
SELECT name, latest_version, revision, created_at, updated_at FROM workflow_definition
WHERE namespace_id = ? AND application_id = ? AND name = ? FOR UPDATE;

-- lock: 4 definition X, held.
-- name: UpdateDefinition :execrows
UPDATE workflow_definition SET latest_version = ?, revision = revision + 1, updated_at = ?
WHERE namespace_id = ? AND application_id = ? AND name = ?;

-- lock: 4 definition X (new row).
-- name: InsertVersion :execrows
INSERT INTO workflow_version (namespace_id, application_id, name, version, digest, document, published_by, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- lock: none; versions are immutable.
-- name: GetVersion :one
SELECT name, version, digest, document, published_by, created_at FROM workflow_version
WHERE namespace_id = ? AND application_id = ? AND name = ? AND version = ?;

-- lock: none.
-- name: ListVersions :many
SELECT name, version, digest, published_by, created_at FROM workflow_version
WHERE namespace_id = ? AND application_id = ? AND name = ? AND version < ? ORDER BY version DESC LIMIT ?;

-- lock: none.
-- name: GetDefinition :one
SELECT name, latest_version, revision, created_at, updated_at FROM workflow_definition
WHERE namespace_id = ? AND application_id = ? AND name = ?;

-- lock: none.
-- name: ListDefinitions :many
SELECT name, latest_version, revision, created_at, updated_at FROM workflow_definition
WHERE namespace_id = ? AND application_id = ? AND name > ? ORDER BY name LIMIT ?;
