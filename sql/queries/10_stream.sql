-- Rung 10. The head is locked last; no task may be locked after it.

-- lock: 10 stream X, last.
-- name: LockStream :one
SELECT next_seq, last_hash FROM stream_head WHERE namespace_id = ? FOR UPDATE;

-- lock: 10 stream X, held.
-- name: UpdateStream :execrows
UPDATE stream_head SET next_seq = ?, last_hash = ? WHERE namespace_id = ?;

-- lock: 10 stream X (new row).
-- name: InsertStream :execrows
INSERT INTO stream_head (namespace_id, next_seq, last_hash) VALUES (?, 1, ?);

-- lock: 10 stream X (new row). {many}
-- name: InsertStreamEntry :execrows
INSERT INTO stream_entry (namespace_id, seq, application_id, queue_id, task_id, state, state_version, at, hash)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- lock: none.
-- name: ListStreamEntries :many
SELECT seq, application_id, queue_id, task_id, state, state_version, at, hash FROM stream_entry
WHERE namespace_id = ? AND seq >= ? ORDER BY seq LIMIT ?;

-- lock: none.
-- name: GetStreamHead :one
SELECT next_seq, last_hash FROM stream_head WHERE namespace_id = ?;
