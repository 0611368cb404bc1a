-- Rung 9. Inside the rung: open tasks, then resource locks, then key waits; each in key order.

-- Locks the open tasks named by completions, renewals, cancels and the recovery scan.
-- lock: 9 task X, by primary key.
-- name: LockOpenTasks :many
SELECT task_id, application_id, queue_id, state, state_version, priority, attempt_no, attempts_used, max_attempts, lost_policy, has_contract, permit_held,
       handler_hash, attempt_timeout_ms, input_bytes, available_at, deadline_at, started_at, lease_until, cancel_requested_at, token, worker, resource_key, gate_id, owner_id
FROM open_task WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) ORDER BY task_id FOR UPDATE;

-- Locks parked tasks that a freed key may wake; they may belong to other applications. One that another transaction
-- holds is passed over: it is being ended there, and that transaction asks for the key next and wakes who is first
-- then. Waiting for it here, with the key in hand, would be a deadlock.
-- lock: 9 task X, by primary key, SKIP LOCKED.
-- name: LockParkedTasks :many
SELECT task_id, application_id, queue_id, state, state_version, priority, attempt_no, attempts_used, max_attempts, lost_policy, has_contract, permit_held,
       handler_hash, attempt_timeout_ms, input_bytes, available_at, deadline_at, started_at, lease_until, cancel_requested_at, token, worker, resource_key, gate_id, owner_id
FROM open_task WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) ORDER BY task_id FOR UPDATE SKIP LOCKED;

-- Candidates of one claim in dispatch order: exact because the quota row is held, fenced again by UpdateOpenTasksStarted.
-- lock: none.
-- name: ListClaimable :many
SELECT task_id, application_id, queue_id, state, state_version, priority, attempt_no, attempts_used, max_attempts, lost_policy, has_contract, permit_held,
       handler_hash, attempt_timeout_ms, input_bytes, available_at, deadline_at, started_at, lease_until, cancel_requested_at, token, worker, resource_key, gate_id, owner_id
FROM open_task FORCE INDEX (open_due)
WHERE namespace_id = ? AND queue_id = ? AND state = 1 AND due_at >= sqlc.arg('from_due_at') AND handler_hash IN (sqlc.slice('handler_hashes'))
ORDER BY due_at, task_id LIMIT ?;

-- Due rows of one state: 2 lost leases, 3 delays that are over. Plain read; the lane decides under its locks. No order
-- is asked for: each queue's rows come in index order, and a sort over all of them would cost a read of all of them
-- for every page.
-- lock: none.
-- name: ListDueTasks :many
SELECT task_id, application_id, queue_id, due_at FROM open_task FORCE INDEX (open_due)
WHERE namespace_id = ? AND queue_id IN (sqlc.slice('queue_ids')) AND state = ? AND due_at <= ? LIMIT ?;

-- Open tasks whose total deadline has passed and that are not running (5 is the highest waiting state). The lower bound
-- passes over what waits for a person long after its deadline and would be read again every second.
-- lock: none.
-- name: ListExpiredTasks :many
SELECT task_id, application_id, queue_id, deadline_at FROM open_task FORCE INDEX (open_deadline)
WHERE namespace_id = ? AND deadline_at >= sqlc.arg('from_deadline_at') AND deadline_at <= ? AND state IN (1, 3, 4, 5) ORDER BY deadline_at, task_id LIMIT ?;

-- The earliest time something of this queue and state becomes due, to sleep until then.
-- lock: none.
-- name: GetNextDue :one
SELECT due_at FROM open_task FORCE INDEX (open_due) WHERE namespace_id = ? AND queue_id = ? AND state = ? ORDER BY due_at, task_id LIMIT 1;

-- lock: 9 task X (new row). {many}
-- name: InsertTask :execrows
INSERT INTO task (namespace_id, task_id, application_id, queue_id, state, state_version, priority, source, owner_id, gate_id, handler, handler_version, attempt_timeout_ms, max_attempts, retry_policy, lost_policy, available_at, deadline_at, created_at, changed_at, result_attempt_no, failure_code, business_key, resource_key, traceparent, output_contract, input)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- lock: 9 task X (new row). {many}
-- name: InsertOpenTask :execrows
INSERT INTO open_task (namespace_id, task_id, application_id, queue_id, state, state_version, priority, attempt_no, attempts_used, max_attempts, lost_policy, has_contract, permit_held, handler_hash, attempt_timeout_ms, input_bytes, available_at, deadline_at, started_at, lease_until, cancel_requested_at, token, worker, resource_key, gate_id, owner_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- Starts tasks of one worker that share a lease end. Each token is drawn from the transaction's secret and the task.
-- Rows must equal ids: the state fences a second claimer.
-- lock: 9 task X, by primary key.
-- name: UpdateOpenTasksStarted :execrows
UPDATE open_task SET state = 2, state_version = state_version + 1, attempt_no = attempt_no + 1, attempts_used = attempts_used + 1, permit_held = 1,
       started_at = ?, lease_until = ?, token = UNHEX(LEFT(SHA2(CONCAT(sqlc.arg('secret'), task_id), 256), 32)), worker = ?, cancel_requested_at = NULL
WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) AND state = 1;

-- Extends leases that share a new end; fenced by the token that was checked.
-- lock: 9 task X, held.
-- name: UpdateOpenTasksRenewed :execrows
UPDATE open_task SET lease_until = ? WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) AND state = 2;

-- Moves waiting tasks between waiting states (1, 3, 4, 5) without a public change.
-- lock: 9 task X, by primary key.
-- name: UpdateOpenTasksParked :execrows
UPDATE open_task SET state = sqlc.arg('to_state') WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) AND state = sqlc.arg('from_state');

-- Rewrites everything that may change of open tasks whose rows are held: retries, returns, reviews, cancel requests. {many}
-- lock: 9 task X, held.
-- name: UpdateOpenTask :exec
INSERT INTO open_task (namespace_id, task_id, application_id, queue_id, state, state_version, priority, attempt_no, attempts_used, max_attempts, lost_policy, has_contract, permit_held, handler_hash, attempt_timeout_ms, input_bytes, available_at, deadline_at, started_at, lease_until, cancel_requested_at, token, worker, resource_key, gate_id, owner_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE state = VALUES(state), state_version = VALUES(state_version), attempt_no = VALUES(attempt_no), attempts_used = VALUES(attempts_used), permit_held = VALUES(permit_held),
  available_at = VALUES(available_at), started_at = VALUES(started_at), lease_until = VALUES(lease_until), cancel_requested_at = VALUES(cancel_requested_at), token = VALUES(token), worker = VALUES(worker);

-- lock: 9 task X, by primary key.
-- name: DeleteOpenTasks :execrows
DELETE FROM open_task WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids'));

-- Ends tasks that share every value written here. Fenced: only an open or reviewed task may end.
-- lock: 9 task X, by primary key.
-- name: UpdateTasksEnded :execrows
UPDATE task SET state = ?, state_version = ?, changed_at = ?, result_attempt_no = ?, failure_code = ?
WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) AND state IN (1, 5);

-- What a settlement must know beyond the open row: policy, contract, and how an ended task ended.
-- lock: none (changed only under the quota row).
-- name: ListTaskRules :many
SELECT task_id, application_id, state, state_version, source, retry_policy, output_contract, failure_code FROM task WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) ORDER BY task_id;

-- What a worker is given. Read after the commit, outside the lane.
-- lock: none (immutable columns).
-- name: ListTaskPayloads :many
SELECT t.task_id, t.handler, t.handler_version, t.priority, t.business_key, t.resource_key, t.traceparent, t.created_at, t.deadline_at, t.max_attempts, t.input, q.name AS queue_name
FROM task t JOIN queue q ON q.namespace_id = t.namespace_id AND q.queue_id = t.queue_id
WHERE t.namespace_id = ? AND t.task_id IN (sqlc.slice('task_ids')) ORDER BY t.task_id;

-- lock: 9 task X (new row). {many}
-- name: InsertAttempt :execrows
INSERT INTO attempt (namespace_id, task_id, attempt_no, outcome, consumed, task_state, token, worker, started_at, lease_until, ended_at, report_digest, failure_code, failure_message, failure_details, output)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- Ended attempts named by repeated or late reports.
-- lock: none (never rewritten).
-- name: ListAttemptsOf :many
SELECT task_id, attempt_no, outcome, task_state, token, report_digest, worker FROM attempt
WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) ORDER BY task_id, attempt_no;

-- lock: 9 task X (new row). {many}
-- name: InsertTaskEvent :execrows
INSERT INTO task_event (namespace_id, task_id, event_no, kind, attempt_no, at, detail) VALUES (?, ?, ?, ?, ?, ?, ?);

-- The same late report twice is one piece of evidence. {many}
-- lock: 9 task X (new row).
-- name: InsertLateEvidence :exec
INSERT INTO late_evidence (namespace_id, task_id, attempt_no, report_digest, outcome, received_at, worker, report)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE received_at = late_evidence.received_at;

-- lock: 9 task X, by primary key.
-- name: LockResources :many
SELECT resource_key, task_id, waiters FROM resource_lock
WHERE namespace_id = ? AND resource_key IN (sqlc.slice('resource_keys')) ORDER BY resource_key FOR UPDATE;

-- lock: 9 task X (new row). {many}
-- name: InsertResourceLock :execrows
INSERT INTO resource_lock (namespace_id, resource_key, task_id, waiters) VALUES (?, ?, ?, ?);

-- lock: 9 task X, held.
-- name: UpdateResourceLock :execrows
UPDATE resource_lock SET task_id = ?, waiters = ? WHERE namespace_id = ? AND resource_key = ?;

-- lock: 9 task X, by primary key.
-- name: DeleteResourceLocks :execrows
DELETE FROM resource_lock WHERE namespace_id = ? AND resource_key IN (sqlc.slice('resource_keys'));

-- The first waiters of a freed key. Rows of tasks that ended meanwhile are met here and removed.
-- lock: 9 task X, by primary key.
-- name: LockKeyWaits :many
SELECT resource_key, due_at, task_id, application_id, queue_id FROM key_wait
WHERE namespace_id = ? AND resource_key = ? ORDER BY due_at, task_id LIMIT ? FOR UPDATE;

-- lock: 9 task X (new row). {many}
-- name: InsertKeyWait :execrows
INSERT INTO key_wait (namespace_id, resource_key, due_at, task_id, application_id, queue_id) VALUES (?, ?, ?, ?, ?, ?);

-- lock: 9 task X, held.
-- name: DeleteKeyWait :execrows
DELETE FROM key_wait WHERE namespace_id = ? AND resource_key = ? AND due_at = ? AND task_id = ?;

-- lock: none.
-- name: GetTask :one
SELECT * FROM task WHERE namespace_id = ? AND task_id = ?;

-- lock: none.
-- name: GetOpenTask :one
SELECT * FROM open_task WHERE namespace_id = ? AND task_id = ?;

-- lock: none.
-- name: ListAttempts :many
SELECT * FROM attempt WHERE namespace_id = ? AND task_id = ? AND attempt_no > ? ORDER BY attempt_no LIMIT ?;

-- lock: none.
-- name: GetAttempt :one
SELECT * FROM attempt WHERE namespace_id = ? AND task_id = ? AND attempt_no = ?;

-- lock: none.
-- name: ListTaskEvents :many
SELECT * FROM task_event WHERE namespace_id = ? AND task_id = ? AND event_no > ? ORDER BY event_no LIMIT ?;

-- lock: none.
-- name: ListLateEvidence :many
SELECT * FROM late_evidence WHERE namespace_id = ? AND task_id = ? ORDER BY attempt_no, report_digest LIMIT ?;

-- The running tasks of a queue: bounded by its running limit, so a sort is fine; nothing is locked.
-- lock: none.
-- name: ListRunningTasks :many
SELECT t.* FROM open_task o FORCE INDEX (open_due) JOIN task t ON t.namespace_id = o.namespace_id AND t.task_id = o.task_id
WHERE o.namespace_id = ? AND o.queue_id = ? AND o.state = 2
  AND t.created_at >= sqlc.arg('created_from') AND t.created_at < sqlc.arg('created_before')
  AND (t.created_at > sqlc.arg('after_at') OR (t.created_at = sqlc.arg('after_at') AND t.task_id > sqlc.arg('after_id')))
  AND (CAST(sqlc.arg('any_key') AS SIGNED) = 1 OR t.business_key = sqlc.arg('business_key'))
ORDER BY t.created_at, t.task_id LIMIT ?;

-- lock: none.
-- name: ListTasks :many
SELECT t.* FROM task t FORCE INDEX (task_list)
WHERE t.namespace_id = ? AND t.queue_id = ? AND t.created_at >= sqlc.arg('created_from') AND t.created_at < sqlc.arg('created_before')
  AND (t.created_at > sqlc.arg('after_at') OR (t.created_at = sqlc.arg('after_at') AND t.task_id > sqlc.arg('after_id')))
ORDER BY t.created_at, t.task_id LIMIT ?;

-- lock: none.
-- name: ListTasksByState :many
SELECT t.* FROM task t FORCE INDEX (task_list_state)
WHERE t.namespace_id = ? AND t.queue_id = ? AND t.state = ? AND t.created_at >= sqlc.arg('created_from') AND t.created_at < sqlc.arg('created_before')
  AND (t.created_at > sqlc.arg('after_at') OR (t.created_at = sqlc.arg('after_at') AND t.task_id > sqlc.arg('after_id')))
  AND (CAST(sqlc.arg('waiting_only') AS SIGNED) = 0 OR EXISTS (SELECT 1 FROM open_task o WHERE o.namespace_id = t.namespace_id AND o.task_id = t.task_id AND o.state IN (1, 3, 4, 5)))
ORDER BY t.created_at, t.task_id LIMIT ?;

-- lock: none.
-- name: ListTasksByKey :many
SELECT t.* FROM task t FORCE INDEX (task_list_key)
WHERE t.namespace_id = ? AND t.queue_id = ? AND t.business_key = ? AND t.created_at >= sqlc.arg('created_from') AND t.created_at < sqlc.arg('created_before')
  AND (t.created_at > sqlc.arg('after_at') OR (t.created_at = sqlc.arg('after_at') AND t.task_id > sqlc.arg('after_id')))
ORDER BY t.created_at, t.task_id LIMIT ?;

-- lock: none.
-- name: ListTasksByKeyAndState :many
SELECT t.* FROM task t FORCE INDEX (task_list_key_state)
WHERE t.namespace_id = ? AND t.queue_id = ? AND t.business_key = ? AND t.state = ? AND t.created_at >= sqlc.arg('created_from') AND t.created_at < sqlc.arg('created_before')
  AND (t.created_at > sqlc.arg('after_at') OR (t.created_at = sqlc.arg('after_at') AND t.task_id > sqlc.arg('after_id')))
  AND (CAST(sqlc.arg('waiting_only') AS SIGNED) = 0 OR EXISTS (SELECT 1 FROM open_task o WHERE o.namespace_id = t.namespace_id AND o.task_id = t.task_id AND o.state IN (1, 3, 4, 5)))
ORDER BY t.created_at, t.task_id LIMIT ?;

-- States of open tasks of one page of a list.
-- lock: none.
-- name: ListOpenStates :many
SELECT task_id, state, state_version, attempt_no, attempts_used, available_at, cancel_requested_at, lease_until, started_at, worker FROM open_task
WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) ORDER BY task_id;

-- Keys that nobody holds while tasks wait behind them: the safety net behind the wake-up that a release gives.
-- lock: none.
-- name: ListFreeResources :many
SELECT resource_key, waiters FROM resource_lock WHERE namespace_id = ? AND task_id = ? AND waiters > 0 ORDER BY resource_key LIMIT ?;

-- The queue of a task, which never changes: a cancel must know it before it locks anything.
-- lock: none.
-- name: GetTaskQueue :one
SELECT queue_id FROM task WHERE namespace_id = ? AND task_id = ? AND application_id = ?;

-- The decision about a task; a task leaves review once.
-- lock: 9 task X (new row). {many}
-- name: InsertTaskReview :execrows
INSERT INTO task_review (namespace_id, task_id, decision, state_version, decided_by, at, reason, failure_code, failure_message, failure_details, evidence, output)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- Who decided, for those who come second.
-- lock: none (changed only under the quota row).
-- name: ListTaskReviews :many
SELECT task_id, decision, decided_by, at FROM task_review WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) ORDER BY task_id;

-- lock: none.
-- name: GetTaskReview :one
SELECT * FROM task_review WHERE namespace_id = ? AND task_id = ?;

-- The primary key allows one direct successor.
-- lock: 9 task X (new row). {many}
-- name: InsertTaskRetry :execrows
INSERT INTO task_retry (namespace_id, task_id, successor_id, retried_by, at, reason) VALUES (?, ?, ?, ?, ?, ?);

-- The successors of tasks that somebody wants to retry.
-- lock: none (changed only under the quota row).
-- name: ListTaskRetries :many
SELECT task_id, successor_id FROM task_retry WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) ORDER BY task_id;

-- lock: none.
-- name: GetTaskRetry :one
SELECT * FROM task_retry WHERE namespace_id = ? AND task_id = ?;

-- What a manual retry repeats: the frozen request of tasks that have ended. Held, because a purge may be about to delete
-- them, and the new task will point at them.
-- lock: 9 task S (full rows, by primary key).
-- name: LockTaskOriginals :many
SELECT task_id, application_id, queue_id, state, state_version, source, priority, handler, handler_version, attempt_timeout_ms, retry_policy, lost_policy,
       deadline_at, created_at, business_key, resource_key, output_contract, input
FROM task WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) ORDER BY task_id LOCK IN SHARE MODE;

-- Tasks that evidence arrives for after their end: held, so that a purge takes the evidence with the task or comes first.
-- lock: 9 task S (full rows, by primary key).
-- name: LockEndedTasks :many
SELECT task_id FROM task WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) AND state IN (2, 3, 4) ORDER BY task_id LOCK IN SHARE MODE;

-- Everything that may keep one open task from running, at one moment.
-- lock: none.
-- name: GetTaskStanding :one
SELECT o.task_id, o.application_id, o.queue_id, o.state, o.priority, o.available_at, o.deadline_at, o.handler_hash, o.due_at, o.gate_id,
       q.paused, q.rate_limited, q.running_attempts AS queue_running, q.running_attempts_max AS queue_running_max,
       a.running_attempts AS application_running, a.running_attempts_max AS application_running_max,
       r.task_id AS holder_id, h.application_id AS holder_application_id, h.state AS holder_state, g.state AS gate_state, NOW(6) AS now_at
FROM open_task o
JOIN queue q ON q.namespace_id = o.namespace_id AND q.queue_id = o.queue_id
JOIN quota a ON a.namespace_id = o.namespace_id AND a.application_id = o.application_id
LEFT JOIN resource_lock r ON r.namespace_id = o.namespace_id AND r.resource_key = o.resource_key
LEFT JOIN open_task h ON h.namespace_id = r.namespace_id AND h.task_id = r.task_id
LEFT JOIN execution_gate g ON g.namespace_id = o.namespace_id AND g.gate_id = o.gate_id
WHERE o.namespace_id = ? AND o.task_id = ?;

-- How many tasks of the same queue and handler a worker gets first, counted up to a bound.
-- lock: none.
-- name: CountTasksAhead :one
SELECT CAST(COUNT(*) AS SIGNED) AS ahead FROM (
  SELECT 1 FROM open_task x FORCE INDEX (open_due)
  WHERE x.namespace_id = ? AND x.queue_id = ? AND x.state = 1 AND x.handler_hash = ?
    AND (x.due_at < sqlc.arg('due_at') OR (x.due_at = sqlc.arg('due_at') AND x.task_id < sqlc.arg('task_id')))
  LIMIT ?
) y;

-- Reads who holds the slots of a batch's keys; the queue rows are held, so the read is exact.
-- lock: none.
-- name: ListTaskSlots :many
SELECT queue_id, kind, slot_key, task_id, first_at, held_until, receipt FROM task_slot
WHERE namespace_id = ? AND queue_id = ? AND kind = ? AND slot_key IN (sqlc.slice('slot_keys'));

-- Gives a slot to its new task.
-- lock: 9 task X (slot, by primary key, under its queue). {many}
-- name: InsertTaskSlot :exec
INSERT INTO task_slot (namespace_id, queue_id, kind, slot_key, task_id, first_at, held_until, receipt) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE task_id = VALUES(task_id), first_at = VALUES(first_at), held_until = VALUES(held_until), receipt = VALUES(receipt);

-- Writes the search attributes of an accepted task.
-- lock: 9 task X (new row). {many}
-- name: InsertTaskAttribute :execrows
INSERT INTO task_attribute (namespace_id, queue_id, name, value, created_at, task_id) VALUES (?, ?, ?, ?, ?, ?);

-- Keeps the last progress a worker reported.
-- lock: 9 task X (progress, by primary key, under its open task). {many}
-- name: InsertTaskProgress :exec
INSERT INTO task_progress (namespace_id, task_id, attempt_no, at, percent, message, detail) VALUES (?, ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE attempt_no = VALUES(attempt_no), at = VALUES(at), percent = VALUES(percent), message = VALUES(message), detail = VALUES(detail);

-- Shows a task's attributes.
-- lock: none.
-- name: ListTaskAttributes :many
SELECT name, value FROM task_attribute WHERE namespace_id = ? AND task_id = ? ORDER BY name;

-- Shows a task's last progress.
-- lock: none.
-- name: GetTaskProgress :one
SELECT attempt_no, at, percent, message, detail FROM task_progress WHERE namespace_id = ? AND task_id = ?;

-- Pages the tasks that carry one value of one attribute, by creation. Their number bounds what a state filter passes over.
-- lock: none.
-- name: ListTasksByAttribute :many
SELECT t.* FROM task_attribute a FORCE INDEX (PRIMARY) JOIN task t ON t.namespace_id = a.namespace_id AND t.task_id = a.task_id
WHERE a.namespace_id = ? AND a.queue_id = ? AND a.name = ? AND a.value = ? AND a.created_at >= sqlc.arg('created_from') AND a.created_at < sqlc.arg('created_before')
  AND (a.created_at > sqlc.arg('after_at') OR (a.created_at = sqlc.arg('after_at') AND a.task_id > sqlc.arg('after_id')))
  AND (CAST(sqlc.arg('any_state') AS SIGNED) = 1 OR t.state = sqlc.arg('state'))
  AND (CAST(sqlc.arg('open_only') AS SIGNED) = 0 OR EXISTS (SELECT 1 FROM open_task o WHERE o.namespace_id = a.namespace_id AND o.task_id = a.task_id
    AND (o.state = 2) = (CAST(sqlc.arg('running') AS SIGNED) = 1) AND o.state <> 6))
ORDER BY a.created_at, a.task_id LIMIT ?;

-- Windows that are over and whose task has ended.
-- lock: none.
-- name: ListIdleSlots :many
SELECT s.task_id FROM task_slot s LEFT JOIN open_task o ON o.namespace_id = s.namespace_id AND o.task_id = s.task_id
WHERE s.namespace_id = ? AND s.held_until < ? AND o.task_id IS NULL ORDER BY s.held_until LIMIT ?;

-- A window that was given to a new task meanwhile is held again, and stays.
-- lock: 9 task X (slots, by held_until).
-- name: DeleteIdleSlots :execrows
DELETE FROM task_slot WHERE namespace_id = ? AND held_until < ? AND task_id IN (sqlc.slice('task_ids'));

-- An operator's view of what failed or waits for a person, newest first, with the message of the attempt that decided.
-- lock: none.
-- name: ListFailures :many
SELECT t.task_id, t.state, t.state_version, t.source, t.owner_id, t.gate_id, t.handler, t.handler_version, t.max_attempts, t.created_at, t.changed_at, t.result_attempt_no,
       t.failure_code, t.business_key, a.failure_message
FROM task t FORCE INDEX (task_list_state) LEFT JOIN attempt a ON a.namespace_id = t.namespace_id AND a.task_id = t.task_id AND a.attempt_no = t.result_attempt_no
WHERE t.namespace_id = ? AND t.queue_id = ? AND t.state = ? AND t.created_at >= sqlc.arg('created_from') AND t.created_at < sqlc.arg('created_before')
  AND (t.created_at < sqlc.arg('before_at') OR (t.created_at = sqlc.arg('before_at') AND t.task_id < sqlc.arg('before_id')))
ORDER BY t.created_at DESC, t.task_id DESC LIMIT ?;

-- The same tasks counted by code and handler: the newest of a range, up to a bound, so that a long history costs no more.
-- lock: none.
-- name: CountFailures :many
SELECT x.failure_code, x.handler, x.handler_version, CAST(COUNT(*) AS SIGNED) AS tasks, CAST(MIN(x.created_at) AS DATETIME(6)) AS oldest_at, CAST(MAX(x.created_at) AS DATETIME(6)) AS newest_at
FROM (SELECT t.failure_code, t.handler, t.handler_version, t.created_at FROM task t FORCE INDEX (task_list_state)
      WHERE t.namespace_id = ? AND t.queue_id = ? AND t.state = ? AND t.created_at >= sqlc.arg('created_from') AND t.created_at < sqlc.arg('created_before')
      ORDER BY t.created_at DESC, t.task_id DESC LIMIT ?) x
GROUP BY x.failure_code, x.handler, x.handler_version ORDER BY tasks DESC, x.failure_code, x.handler, x.handler_version;

-- Which of a page's tasks have an attempt whose effect nobody knows (outcome 4).
-- lock: none.
-- name: ListUnknownEffects :many
SELECT task_id, CAST(COUNT(*) AS SIGNED) AS unknown_attempts FROM attempt
WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) AND outcome = 4 GROUP BY task_id ORDER BY task_id;
