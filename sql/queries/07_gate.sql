-- Rung 7. Claims lock gates shared; advances and controls lock them exclusively.

-- lock: 7 gate S, by primary key.
-- name: LockGatesShared :many
SELECT gate_id, state FROM execution_gate WHERE namespace_id = ? AND gate_id IN (sqlc.slice('gate_ids')) ORDER BY gate_id LOCK IN SHARE MODE;

-- lock: 7 gate X, by primary key.
-- name: LockGates :many
SELECT gate_id, state FROM execution_gate WHERE namespace_id = ? AND gate_id IN (sqlc.slice('gate_ids')) ORDER BY gate_id FOR UPDATE;

-- lock: 7 gate X (new row). {many}
-- name: InsertGate :execrows
INSERT INTO execution_gate (namespace_id, gate_id, state, changed_at) VALUES (?, ?, ?, ?);

-- lock: 7 gate X, held.
-- name: UpdateGates :execrows
UPDATE execution_gate SET state = ?, changed_at = ? WHERE namespace_id = ? AND gate_id IN (sqlc.slice('gate_ids'));
