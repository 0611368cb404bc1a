-- Audit is written, never locked.

-- lock: none (new row). {many}
-- name: InsertAudit :execrows
INSERT INTO audit (namespace_id, audit_id, application_id, operation_id, actor, action, subject, at, reason, detail)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- lock: none.
-- name: ListAudit :many
SELECT audit_id, application_id, operation_id, actor, action, subject, at, reason, detail FROM audit
WHERE namespace_id = ? AND audit_id > ? ORDER BY audit_id LIMIT ?;

-- lock: none.
-- name: ListAuditBySubject :many
SELECT audit_id, application_id, operation_id, actor, action, subject, at, reason, detail FROM audit
WHERE namespace_id = ? AND subject = ? AND audit_id > ? ORDER BY audit_id LIMIT ?;
