-- Invariants, read without locks: what must never be true of a quiet system. Used by the doctor and by tests.

-- Quotas whose counters differ from the rows they count.
-- lock: none.
-- name: ListQuotaDrift :many
SELECT q.application_id, q.open_tasks, q.running_attempts, q.open_payload_bytes, q.open_instances,
       CAST(COALESCE(o.open_tasks, 0) AS SIGNED) AS rows_open_tasks, CAST(COALESCE(o.running_attempts, 0) AS SIGNED) AS rows_running_attempts,
       CAST(COALESCE(o.open_payload_bytes, 0) AS SIGNED) AS rows_open_payload_bytes, CAST(COALESCE(i.open_instances, 0) AS SIGNED) AS rows_open_instances
FROM quota q
LEFT JOIN (SELECT application_id, COUNT(*) AS open_tasks, SUM(state = 2) AS running_attempts, SUM(input_bytes) AS open_payload_bytes
           FROM open_task x WHERE x.namespace_id = sqlc.arg(namespace_id) GROUP BY application_id) o ON o.application_id = q.application_id
LEFT JOIN (SELECT application_id, COUNT(*) AS open_instances
           FROM instance y WHERE y.namespace_id = sqlc.arg(namespace_id) AND ended_at IS NULL GROUP BY application_id) i ON i.application_id = q.application_id
WHERE q.namespace_id = sqlc.arg(namespace_id)
  AND (q.open_tasks <> COALESCE(o.open_tasks, 0) OR q.running_attempts <> COALESCE(o.running_attempts, 0)
    OR q.open_payload_bytes <> COALESCE(o.open_payload_bytes, 0) OR q.open_instances <> COALESCE(i.open_instances, 0))
ORDER BY q.application_id;

-- Queues whose counters differ from the rows they count.
-- lock: none.
-- name: ListQueueDrift :many
SELECT q.queue_id, q.name, q.open_tasks, q.running_attempts,
       CAST(COALESCE(o.open_tasks, 0) AS SIGNED) AS rows_open_tasks, CAST(COALESCE(o.running_attempts, 0) AS SIGNED) AS rows_running_attempts
FROM queue q
LEFT JOIN (SELECT queue_id, COUNT(*) AS open_tasks, SUM(state = 2) AS running_attempts
           FROM open_task x WHERE x.namespace_id = sqlc.arg(namespace_id) GROUP BY queue_id) o ON o.queue_id = q.queue_id
WHERE q.namespace_id = sqlc.arg(namespace_id)
  AND (q.open_tasks <> COALESCE(o.open_tasks, 0) OR q.running_attempts <> COALESCE(o.running_attempts, 0))
ORDER BY q.queue_id;

-- Subscriptions whose counters differ from the rows they count.
-- lock: none.
-- name: ListSubscriptionDrift :many
SELECT s.subscription_id, s.name, s.pending_count, s.dead_count,
       CAST(COALESCE(d.deliveries, 0) AS SIGNED) AS rows_pending, CAST(COALESCE(l.letters, 0) AS SIGNED) AS rows_dead
FROM subscription s
LEFT JOIN (SELECT subscription_id, COUNT(*) AS deliveries FROM subscription_delivery x WHERE x.namespace_id = sqlc.arg(namespace_id) GROUP BY subscription_id) d
  ON d.subscription_id = s.subscription_id
LEFT JOIN (SELECT subscription_id, COUNT(*) AS letters FROM subscription_dead_letter x WHERE x.namespace_id = sqlc.arg(namespace_id) GROUP BY subscription_id) l
  ON l.subscription_id = s.subscription_id
WHERE s.namespace_id = sqlc.arg(namespace_id) AND (s.pending_count <> COALESCE(d.deliveries, 0) OR s.dead_count <> COALESCE(l.letters, 0))
ORDER BY s.subscription_id;

-- Deliveries and dead letters whose result is gone: nobody can be given them, so nobody will acknowledge them.
-- lock: none.
-- name: ListOrphanDeliveries :many
SELECT s.name, d.seq FROM (
  SELECT subscription_id, seq FROM subscription_delivery x WHERE x.namespace_id = sqlc.arg(namespace_id)
  UNION ALL
  SELECT subscription_id, seq FROM subscription_dead_letter x WHERE x.namespace_id = sqlc.arg(namespace_id)
) AS d
LEFT JOIN subscription s ON s.namespace_id = sqlc.arg(namespace_id) AND s.subscription_id = d.subscription_id
LEFT JOIN stream_entry e ON e.namespace_id = sqlc.arg(namespace_id) AND e.seq = d.seq
WHERE s.subscription_id IS NULL OR e.seq IS NULL
ORDER BY d.subscription_id, d.seq LIMIT ?;

-- Resource keys whose waiters differ from the rows parked behind them.
-- lock: none.
-- name: ListWaiterDrift :many
SELECT k.resource_key, CAST(k.parked AS SIGNED) AS parked, CAST(COALESCE(r.waiters, 0) AS SIGNED) AS waiters
FROM (SELECT resource_key, COUNT(*) AS parked FROM key_wait x WHERE x.namespace_id = sqlc.arg(namespace_id) GROUP BY resource_key) k
LEFT JOIN resource_lock r ON r.namespace_id = sqlc.arg(namespace_id) AND r.resource_key = k.resource_key
WHERE k.parked <> COALESCE(r.waiters, 0) ORDER BY k.resource_key LIMIT ?;

-- Held keys whose holder neither runs nor has an unknown effect.
-- lock: none.
-- name: ListOrphanResources :many
SELECT r.resource_key, r.task_id FROM resource_lock r
LEFT JOIN open_task o ON o.namespace_id = r.namespace_id AND o.task_id = r.task_id
WHERE r.namespace_id = ? AND r.task_id <> sqlc.arg('nobody') AND (o.task_id IS NULL OR o.permit_held = 0) ORDER BY r.resource_key LIMIT ?;

-- Open tasks that nothing will wake: blocked without a wait, gated behind an open gate, or without their full row.
-- lock: none.
-- name: ListStuckTasks :many
SELECT o.task_id, o.state FROM open_task o
LEFT JOIN key_wait k ON k.namespace_id = o.namespace_id AND k.resource_key = o.resource_key AND k.task_id = o.task_id
LEFT JOIN execution_gate g ON g.namespace_id = o.namespace_id AND g.gate_id = o.gate_id
WHERE o.namespace_id = ? AND ((o.state = 4 AND k.task_id IS NULL) OR (o.state = 5 AND (g.state = 1 OR g.state IS NULL)))
ORDER BY o.task_id LIMIT ?;

-- Running instances that nothing will wake: no open task, no pending result, no checkpoint.
-- lock: none.
-- name: ListStuckInstances :many
SELECT i.instance_id, i.state FROM instance i
WHERE i.namespace_id = ? AND i.state IN (1, 6)
  AND NOT EXISTS (SELECT 1 FROM step s JOIN activation a ON a.namespace_id = s.namespace_id AND a.instance_id = s.instance_id AND a.activation_id = s.activation_id
                  JOIN open_task o ON o.namespace_id = a.namespace_id AND o.task_id = a.task_id
                  WHERE s.namespace_id = i.namespace_id AND s.instance_id = i.instance_id)
  AND NOT EXISTS (SELECT 1 FROM weave_poll q JOIN open_task u ON u.namespace_id = q.namespace_id AND u.task_id = q.current_task_id
                  WHERE q.namespace_id = i.namespace_id AND q.instance_id = i.instance_id)
  AND NOT EXISTS (SELECT 1 FROM weave_inbox b WHERE b.namespace_id = i.namespace_id AND b.instance_id = i.instance_id AND b.state = 1)
  AND NOT EXISTS (SELECT 1 FROM weave_pending_advance p WHERE p.namespace_id = i.namespace_id AND p.instance_id = i.instance_id)
ORDER BY i.instance_id LIMIT ?;

-- Active steps that wait for a time nobody keeps: a wait or a poll is open and has no checkpoint, and it is not the
-- outcome of a task that is awaited.
-- lock: none.
-- name: ListDeafWaits :many
SELECT s.instance_id, s.name FROM step s
LEFT JOIN step_wait w ON w.namespace_id = s.namespace_id AND w.instance_id = s.instance_id AND w.activation_id = s.activation_id
LEFT JOIN weave_poll q ON q.namespace_id = s.namespace_id AND q.instance_id = s.instance_id AND q.activation_id = s.activation_id
LEFT JOIN weave_pending_advance p ON p.namespace_id = s.namespace_id AND p.instance_id = s.instance_id AND p.step_no = s.step_no
JOIN instance i ON i.namespace_id = s.namespace_id AND i.instance_id = s.instance_id
WHERE s.namespace_id = ? AND s.state = 2 AND p.step_no IS NULL AND (i.reason IS NULL OR i.reason NOT IN ('wait_contradiction', 'poll_contradiction'))
  AND (q.activation_id IS NULL AND w.state = 1 OR q.state = 2 OR q.state = 1 AND q.overdue = 0 AND q.verdict = 0)
ORDER BY s.instance_id, s.step_no LIMIT ?;

-- Polls whose rounds have a gap or are not as many as were used.
-- lock: none.
-- name: ListPollDrift :many
SELECT q.instance_id, q.activation_id, q.used_rounds, CAST(COUNT(r.task_id) AS SIGNED) AS rounds, CAST(COALESCE(MAX(r.round_no), 0) AS SIGNED) AS last_round FROM weave_poll q
LEFT JOIN weave_poll_round r ON r.namespace_id = q.namespace_id AND r.instance_id = q.instance_id AND r.activation_id = q.activation_id
WHERE q.namespace_id = ? GROUP BY q.instance_id, q.activation_id, q.used_rounds
HAVING COUNT(r.task_id) <> q.used_rounds OR COALESCE(MAX(r.round_no), 0) <> q.used_rounds
ORDER BY q.instance_id, q.activation_id LIMIT ?;

-- Signals that still wait although their instance has ended.
-- lock: none.
-- name: ListForgottenSignals :many
SELECT g.instance_id, g.signal_id FROM weave_signal g JOIN instance i ON i.namespace_id = g.namespace_id AND i.instance_id = g.instance_id
WHERE g.namespace_id = ? AND g.state = 1 AND i.ended_at IS NOT NULL ORDER BY g.instance_id, g.signal_id LIMIT ?;

-- Tasks that are open in one table and not in the other.
-- lock: none.
-- name: ListTornTasks :many
SELECT t.task_id, t.state FROM task t LEFT JOIN open_task o ON o.namespace_id = t.namespace_id AND o.task_id = t.task_id
WHERE t.namespace_id = ? AND t.state IN (1, 5) AND o.task_id IS NULL ORDER BY t.task_id LIMIT ?;

-- Open rows whose task has ended.
-- lock: none.
-- name: ListLeftoverTasks :many
SELECT o.task_id, o.state FROM open_task o LEFT JOIN task t ON t.namespace_id = o.namespace_id AND t.task_id = o.task_id
WHERE o.namespace_id = ? AND (t.task_id IS NULL OR t.state NOT IN (1, 5)) ORDER BY o.task_id LIMIT ?;

-- How many results the stream holds; the head says how many it must hold.
-- lock: none.
-- name: CountStream :one
SELECT CAST(COUNT(*) AS SIGNED) AS entries, CAST(COALESCE(MAX(seq), 0) AS SIGNED) AS last_seq FROM stream_entry WHERE namespace_id = ?;

-- Queues whose side rows do not fit their switches: a limit without a rate would be none, a reason without a hold is stale.
-- lock: none.
-- name: ListQueueMisfits :many
SELECT q.name, q.rate_limited, CAST(r.queue_id IS NOT NULL AS SIGNED) AS has_rate, q.paused, q.draining FROM queue q
LEFT JOIN queue_rate r ON r.namespace_id = q.namespace_id AND r.queue_id = q.queue_id
WHERE q.namespace_id = ? AND ((q.rate_limited = 1) <> (r.queue_id IS NOT NULL) OR EXISTS (SELECT 1 FROM queue_hold h
  WHERE h.namespace_id = q.namespace_id AND h.queue_id = q.queue_id AND ((h.kind = 1 AND q.paused = 0) OR (h.kind = 2 AND q.draining = 0))))
ORDER BY q.queue_id LIMIT ?;

-- Bulk operations whose counters differ from the tasks they wrote down. Those whose time is over are on their way out.
-- lock: none.
-- name: ListBulkDrift :many
SELECT b.operation_id, b.did, b.skipped, b.refused, CAST(COALESCE(SUM(i.result = 1), 0) AS SIGNED) AS rows_did,
       CAST(COALESCE(SUM(i.result = 2), 0) AS SIGNED) AS rows_skipped, CAST(COALESCE(SUM(i.result = 3), 0) AS SIGNED) AS rows_refused
FROM bulk_operation b LEFT JOIN bulk_item i ON i.namespace_id = b.namespace_id AND i.operation_id = b.operation_id
LEFT JOIN retention k ON k.namespace_id = b.namespace_id
WHERE b.namespace_id = ? AND b.dry_run = 0 AND (b.ended_at IS NULL OR k.audit_ms IS NULL OR k.audit_ms = 0 OR TIMESTAMPDIFF(MICROSECOND, b.ended_at, NOW(6)) < k.audit_ms * 1000)
GROUP BY b.operation_id, b.did, b.skipped, b.refused
HAVING b.did <> rows_did OR b.skipped <> rows_skipped OR b.refused <> rows_refused ORDER BY b.operation_id LIMIT ?;

-- A page of tasks, for a deep look at each.
-- lock: none.
-- name: ListTaskPage :many
SELECT task_id FROM task WHERE namespace_id = ? AND task_id > ? ORDER BY task_id LIMIT ?;

-- The histories of a page of tasks beside what their rows say, at one moment.
-- lock: none.
-- name: ListTaskHistories :many
SELECT t.task_id, CAST(COALESCE(o.state_version, t.state_version) AS UNSIGNED) AS version, CAST(COALESCE(o.state, 0) AS UNSIGNED) AS open_state,
  CAST(COALESCE(o.attempt_no, 0) AS UNSIGNED) AS attempt_no, CAST(COALESCE(o.attempts_used, 0) AS UNSIGNED) AS attempts_used, t.max_attempts,
  CAST((SELECT COUNT(*) FROM task_event e WHERE e.namespace_id = t.namespace_id AND e.task_id = t.task_id) AS UNSIGNED) AS events,
  CAST(COALESCE((SELECT MAX(e.event_no) FROM task_event e WHERE e.namespace_id = t.namespace_id AND e.task_id = t.task_id), 0) AS UNSIGNED) AS last_event,
  CAST((SELECT COUNT(*) FROM attempt a WHERE a.namespace_id = t.namespace_id AND a.task_id = t.task_id) AS UNSIGNED) AS attempts,
  CAST(COALESCE((SELECT MAX(a.attempt_no) FROM attempt a WHERE a.namespace_id = t.namespace_id AND a.task_id = t.task_id), 0) AS UNSIGNED) AS last_attempt
FROM task t LEFT JOIN open_task o ON o.namespace_id = t.namespace_id AND o.task_id = t.task_id
WHERE t.namespace_id = ? AND t.task_id IN (sqlc.slice('task_ids')) ORDER BY t.task_id;

-- What the tasks of a stretch of the stream say of themselves.
-- lock: none.
-- name: ListTaskStates :many
SELECT task_id, state, state_version FROM task WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) ORDER BY task_id;

-- A page of instances beside their histories, at one moment.
-- lock: none.
-- name: ListInstanceHistories :many
SELECT i.instance_id, i.revision,
  CAST((SELECT COUNT(*) FROM instance_history h WHERE h.namespace_id = i.namespace_id AND h.instance_id = i.instance_id) AS UNSIGNED) AS entries,
  CAST(COALESCE((SELECT MAX(h.revision) FROM instance_history h WHERE h.namespace_id = i.namespace_id AND h.instance_id = i.instance_id), 0) AS UNSIGNED) AS last_entry
FROM instance i WHERE i.namespace_id = ? AND i.instance_id > ? ORDER BY i.instance_id LIMIT ?;
