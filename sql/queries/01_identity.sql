-- Rung 1. Shared locks; the three rows are read together and never upgraded.

-- Locks the callers of one transaction and everything above them, in credential order.
-- lock: 1 identity S, by primary key.
-- name: LockCredentials :many
SELECT c.credential_id, c.application_id, c.scopes, c.expires_at, c.revoked_at, a.status AS application_status, n.status AS namespace_status
FROM namespace n
JOIN credential c ON c.namespace_id = n.namespace_id
JOIN application a ON a.namespace_id = c.namespace_id AND a.application_id = c.application_id
WHERE n.namespace_id = sqlc.arg(namespace_id) AND c.namespace_id = sqlc.arg(namespace_id) AND c.credential_id IN (sqlc.slice('credential_ids'))
ORDER BY c.credential_id LOCK IN SHARE MODE;

-- Locks applications on behalf of which the system itself acts (no credential is involved).
-- lock: 1 identity S, by primary key.
-- name: LockApplications :many
SELECT a.application_id, a.status AS application_status, n.status AS namespace_status
FROM namespace n JOIN application a ON a.namespace_id = n.namespace_id
WHERE n.namespace_id = sqlc.arg(namespace_id) AND a.namespace_id = sqlc.arg(namespace_id) AND a.application_id IN (sqlc.slice('application_ids'))
ORDER BY a.application_id LOCK IN SHARE MODE;

-- Everything needed to judge one key, without a lock; the transaction judges again under its own.
-- lock: none.
-- name: GetCredential :one
SELECT c.credential_id, c.application_id, c.name, c.secret_hash, c.scopes, c.expires_at, c.revoked_at, c.created_at, c.last_used_at, c.rotated_to,
       a.status AS application_status, a.name AS application_name, n.status AS namespace_status, NOW(6) AS now_at
FROM credential c
JOIN application a ON a.namespace_id = c.namespace_id AND a.application_id = c.application_id
JOIN namespace n ON n.namespace_id = c.namespace_id
WHERE c.namespace_id = ? AND c.credential_id = ?;

-- lock: none.
-- name: ListNamespaces :many
-- unscoped: the runner asks which namespaces exist; nothing of a tenant is read.
SELECT namespace_id, status FROM namespace WHERE namespace_id > ? ORDER BY namespace_id LIMIT ?;

-- lock: none.
-- name: GetNamespace :one
SELECT namespace_id, name, status, created_at FROM namespace WHERE namespace_id = ?;

-- lock: none.
-- name: GetNamespaceByName :one
-- unscoped: finds the namespace of a name, before any tenant data is touched.
SELECT namespace_id FROM namespace_name WHERE name = ?;

-- lock: 1 identity X (new row), its own transaction.
-- name: InsertNamespaceName :execrows
INSERT INTO namespace_name (name, namespace_id) VALUES (?, ?);

-- lock: 1 identity X (new row).
-- name: InsertNamespace :execrows
INSERT INTO namespace (namespace_id, name, status, created_at) VALUES (?, ?, 1, NOW(6));

-- lock: 1 identity X (new row).
-- name: InsertApplication :execrows
INSERT INTO application (namespace_id, application_id, name, status, created_at) VALUES (?, ?, ?, 1, NOW(6));

-- lock: none.
-- name: GetApplication :one
SELECT application_id, name, status, created_at FROM application WHERE namespace_id = ? AND application_id = ?;

-- lock: none.
-- name: GetApplicationByName :one
SELECT application_id, name, status, created_at FROM application WHERE namespace_id = ? AND name = ?;

-- lock: none.
-- name: ListApplications :many
SELECT application_id, name, status, created_at FROM application WHERE namespace_id = ? AND application_id > ? ORDER BY application_id LIMIT ?;

-- lock: 1 identity X, one row, administration only.
-- name: UpdateApplicationStatus :execrows
UPDATE application SET status = ? WHERE namespace_id = ? AND application_id = ?;

-- lock: 1 identity X (new row).
-- name: InsertCredential :execrows
INSERT INTO credential (namespace_id, credential_id, application_id, name, secret_hash, scopes, expires_at, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, NOW(6));

-- lock: none.
-- name: ListCredentials :many
SELECT credential_id, application_id, name, scopes, expires_at, revoked_at, rotated_to, last_used_at, created_at
FROM credential WHERE namespace_id = ? AND application_id = ? AND credential_id > ? ORDER BY credential_id LIMIT ?;

-- lock: 1 identity X, one row: rotation and revocation decide on the row they lock.
-- name: LockCredentialForUpdate :one
SELECT credential_id, application_id, name, scopes, expires_at, revoked_at, rotated_to, NOW(6) AS now_at
FROM credential WHERE namespace_id = ? AND credential_id = ? FOR UPDATE;

-- lock: 1 identity X, one row.
-- name: UpdateCredentialRotated :execrows
UPDATE credential SET rotated_to = ?, expires_at = ? WHERE namespace_id = ? AND credential_id = ? AND rotated_to IS NULL;

-- lock: 1 identity X, one row.
-- name: UpdateCredentialRevoked :execrows
UPDATE credential SET revoked_at = NOW(6) WHERE namespace_id = ? AND credential_id = ? AND revoked_at IS NULL;

-- lock: 1 identity X, one row, coarse hint outside every other transaction.
-- name: UpdateCredentialUsed :exec
UPDATE credential SET last_used_at = NOW(6) WHERE namespace_id = ? AND credential_id = ?;
