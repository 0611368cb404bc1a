-- Rung 3. The quota row guards an application's receipts, so reading them after it is exact.

-- lock: none (guarded by the quota row).
-- name: ListReceipts :many
SELECT application_id, kind, receipt_key, digest, subject_id, body FROM receipt
WHERE namespace_id = ? AND application_id = ? AND kind = ? AND receipt_key IN (sqlc.slice('receipt_keys')) ORDER BY receipt_key;

-- One receipt of an operation that touches no usage; the insert below is what decides a race.
-- lock: none.
-- name: GetReceipt :one
SELECT digest, subject_id, body, created_at FROM receipt WHERE namespace_id = ? AND application_id = ? AND kind = ? AND receipt_key = ?;

-- lock: 3 receipt X (new row). {many} A duplicate means the key was used: run again with ListReceipts.
-- name: InsertReceipt :execrows
INSERT INTO receipt (namespace_id, application_id, kind, receipt_key, digest, subject_id, body, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- lock: 3 receipt X (new row). A duplicate on a fresh connection proves that the transaction had committed.
-- name: InsertTxCommand :execrows
INSERT INTO tx_command (namespace_id, command_id, created_at) VALUES (?, ?, NOW(6));

-- lock: 3 receipt X, in key order, own transaction.
-- name: DeleteTxCommands :execrows
DELETE FROM tx_command WHERE namespace_id = ? AND command_id < ? ORDER BY command_id LIMIT ?;

-- What repeated claims had started. Locked here, because they will be written after the tasks.
-- lock: 3 receipt X, by primary key, under their quota.
-- name: LockClaimRecords :many
SELECT claim_key, digest, asked, started FROM claim_record
WHERE namespace_id = ? AND application_id = ? AND claim_key IN (sqlc.slice('claim_keys')) ORDER BY claim_key FOR UPDATE;

-- lock: 3 receipt X (new row). {many} A duplicate means that the claim was asked again meanwhile: run again with LockClaimRecords.
-- name: InsertClaimRecord :execrows
INSERT INTO claim_record (namespace_id, application_id, claim_key, digest, asked, started, created_at) VALUES (?, ?, ?, ?, ?, ?, ?);

-- Notes that a newer question was answered.
-- lock: 3 receipt X, held.
-- name: UpdateClaimRecord :execrows
UPDATE claim_record SET asked = sqlc.arg('asked') WHERE namespace_id = ? AND application_id = ? AND claim_key = ? AND asked < sqlc.arg('asked');

-- Claims that no lease can outlive any more, the oldest first.
-- lock: none.
-- name: ListOldClaims :many
SELECT application_id, claim_key FROM claim_record FORCE INDEX (claim_created)
WHERE namespace_id = ? AND created_at < ? ORDER BY created_at LIMIT ?;

-- Removes them by their keys: a delete by time would choose its own index, and may sort and lock what it only looks at.
-- lock: 3 receipt X, by primary key, own transaction.
-- name: DeleteClaimRecords :execrows
DELETE FROM claim_record WHERE namespace_id = ? AND application_id = ? AND claim_key IN (sqlc.slice('claim_keys'));
