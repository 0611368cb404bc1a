-- A ladder of its own: subscription, then its deliveries, then its dead letters. Creating one comes here from the
-- stream; consuming starts here. Nothing above is ever locked from here, and no producer locks anything here.

-- Locks one subscription of the caller's application and reads the clock after the wait.
-- lock: 13 subscription X, by unique name.
-- name: LockSubscription :one
SELECT sqlc.embed(subscription), SYSDATE(6) AS now_at FROM subscription WHERE namespace_id = ? AND application_id = ? AND name = ? FOR UPDATE;

-- Locks everything unacknowledged of one subscription; its window bounds the rows.
-- lock: 13 subscription X, its deliveries by primary key.
-- name: LockDeliveries :many
SELECT seq, previous_seq, generation, tries, holder, due_at FROM subscription_delivery
WHERE namespace_id = ? AND subscription_id = ? ORDER BY seq FOR UPDATE;

-- Locks the deliveries named by acknowledgements.
-- lock: 13 subscription X, its deliveries by primary key.
-- name: LockDeliveriesBySeq :many
SELECT seq, previous_seq, generation, tries, holder, due_at FROM subscription_delivery
WHERE namespace_id = ? AND subscription_id = ? AND seq IN (sqlc.slice('seqs')) ORDER BY seq FOR UPDATE;

-- Locks the dead letters named by late acknowledgements or by a redelivery.
-- lock: 13 subscription X, its dead letters by primary key.
-- name: LockDeadLetters :many
SELECT seq, previous_seq, generation, dead_at FROM subscription_dead_letter
WHERE namespace_id = ? AND subscription_id = ? AND seq IN (sqlc.slice('seqs')) ORDER BY seq FOR UPDATE;

-- lock: 13 subscription X (new row).
-- name: InsertSubscription :execrows
INSERT INTO subscription (namespace_id, subscription_id, application_id, name, queue_ids, states, handlers, in_order, paused, window_max, ack_timeout_ms, generations_max, epoch, next_seq, last_hash, last_seq, selected_count, pending_count, dead_count, secret, version, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, 0, 0, 0, 0, ?, 1, ?);

-- lock: 13 subscription X, held.
-- name: UpdateSubscriptionSettings :execrows
UPDATE subscription SET paused = ?, window_max = ?, ack_timeout_ms = ?, generations_max = ?, version = version + 1
WHERE namespace_id = ? AND subscription_id = ?;

-- Writes back position and counters after every kind of consumption.
-- lock: 13 subscription X, held.
-- name: UpdateSubscriptionPosition :execrows
UPDATE subscription SET epoch = ?, next_seq = ?, last_hash = ?, last_seq = ?, selected_count = ?, pending_count = ?, dead_count = ?, version = ?
WHERE namespace_id = ? AND subscription_id = ?;

-- New and changed deliveries of one subscription, whose row is held. {many}
-- lock: 13 subscription X, held.
-- name: PutDelivery :exec
INSERT INTO subscription_delivery (namespace_id, subscription_id, seq, previous_seq, generation, tries, holder, due_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE generation = VALUES(generation), tries = VALUES(tries), holder = VALUES(holder), due_at = VALUES(due_at);

-- lock: 13 subscription X, held.
-- name: DeleteDeliveries :execrows
DELETE FROM subscription_delivery WHERE namespace_id = ? AND subscription_id = ? AND seq IN (sqlc.slice('seqs'));

-- lock: 13 subscription X (new row). {many}
-- name: InsertDeadLetter :execrows
INSERT INTO subscription_dead_letter (namespace_id, subscription_id, seq, previous_seq, generation, dead_at, reason)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- lock: 13 subscription X, held.
-- name: DeleteDeadLetters :execrows
DELETE FROM subscription_dead_letter WHERE namespace_id = ? AND subscription_id = ? AND seq IN (sqlc.slice('seqs'));

-- Everything unacknowledged goes when the position changes or the subscription ends.
-- lock: 13 subscription X, held.
-- name: DeleteDeliveriesOf :execrows
DELETE FROM subscription_delivery WHERE namespace_id = ? AND subscription_id = ?;

-- Dead letters that a new position delivers again, or that end with the subscription; in bounded steps.
-- lock: 13 subscription X, held.
-- name: DeleteDeadLettersFrom :execrows
DELETE FROM subscription_dead_letter WHERE namespace_id = ? AND subscription_id = ? AND seq >= ? ORDER BY seq LIMIT ?;

-- lock: 13 subscription X, held.
-- name: DeleteSubscription :execrows
DELETE FROM subscription WHERE namespace_id = ? AND subscription_id = ?;

-- lock: none.
-- name: GetSubscription :one
SELECT * FROM subscription WHERE namespace_id = ? AND application_id = ? AND name = ?;

-- lock: none.
-- name: ListSubscriptions :many
SELECT * FROM subscription WHERE namespace_id = ? AND application_id = ? AND name > ? ORDER BY name LIMIT ?;

-- The oldest result that is delivered and not acknowledged.
-- lock: none.
-- name: GetOldestDelivery :one
SELECT d.seq, e.at FROM subscription_delivery d JOIN stream_entry e ON e.namespace_id = d.namespace_id AND e.seq = d.seq
WHERE d.namespace_id = ? AND d.subscription_id = ? ORDER BY d.seq LIMIT 1;

-- lock: none.
-- name: ListDeadLetters :many
SELECT l.seq, l.generation, l.dead_at, l.reason, e.task_id, e.state, e.at
FROM subscription_dead_letter l JOIN stream_entry e ON e.namespace_id = l.namespace_id AND e.seq = l.seq
WHERE l.namespace_id = ? AND l.subscription_id = ? AND l.seq > ? ORDER BY l.seq LIMIT ?;

-- How far subscriptions are behind, the farthest first.
-- lock: none.
-- unscoped: a node tells its operator about all namespaces; nothing but names, positions and counters is read.
-- name: ListSubscriptionLags :many
SELECT n.name AS namespace_name, a.name AS application_name, sqlc.embed(s), h.next_seq AS head_seq, e.at AS pending_at, SYSDATE(6) AS now_at
FROM subscription s
JOIN namespace n ON n.namespace_id = s.namespace_id
JOIN application a ON a.namespace_id = s.namespace_id AND a.application_id = s.application_id
JOIN stream_head h ON h.namespace_id = s.namespace_id
LEFT JOIN (SELECT namespace_id, subscription_id, MIN(seq) AS seq FROM subscription_delivery GROUP BY namespace_id, subscription_id) d
  ON d.namespace_id = s.namespace_id AND d.subscription_id = s.subscription_id
LEFT JOIN stream_entry e ON e.namespace_id = d.namespace_id AND e.seq = d.seq
ORDER BY h.next_seq - s.next_seq + s.pending_count DESC, s.namespace_id, s.subscription_id LIMIT ?;

-- A bounded stretch of the stream. Read after the head, so every entry below it is there.
-- lock: none (never rewritten).
-- name: ListStreamRange :many
SELECT seq, application_id, queue_id, task_id, state, state_version, at, hash FROM stream_entry
WHERE namespace_id = ? AND seq >= sqlc.arg('from_seq') AND seq < sqlc.arg('before_seq') ORDER BY seq;

-- Handlers of the tasks whose results are looked at, for subscriptions that select by them.
-- lock: none (frozen at acceptance; retention keeps a task as long as its entry).
-- name: ListTaskHandlers :many
SELECT task_id, handler FROM task WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) ORDER BY task_id;

-- Entries by number: those delivered, and those before them for their links.
-- lock: none (never rewritten).
-- name: ListStreamEntriesBySeq :many
SELECT seq, application_id, queue_id, task_id, state, state_version, at, hash FROM stream_entry
WHERE namespace_id = ? AND seq IN (sqlc.slice('seqs')) ORDER BY seq;

-- The oldest entry that is kept.
-- lock: none.
-- name: GetFirstStreamEntry :one
SELECT seq FROM stream_entry WHERE namespace_id = ? ORDER BY seq LIMIT 1;

-- What a consumer is told of the tasks beside their results.
-- lock: none (immutable columns, and the reason of an end).
-- name: ListResultTasks :many
SELECT t.task_id, t.state_version, t.failure_code, t.handler, t.handler_version, t.business_key, t.created_at, q.name AS queue_name
FROM task t JOIN queue q ON q.namespace_id = t.namespace_id AND q.queue_id = t.queue_id
WHERE t.namespace_id = ? AND t.task_id IN (sqlc.slice('task_ids')) ORDER BY t.task_id;

-- The events that made the results; they name the attempts. More than asked for may come, the caller picks.
-- lock: none (never rewritten).
-- name: ListResultEvents :many
SELECT task_id, event_no, attempt_no FROM task_event
WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) AND event_no IN (sqlc.slice('event_nos')) ORDER BY task_id, event_no;

-- The attempts that gave the results. More than asked for may come, the caller picks.
-- lock: none (never rewritten).
-- name: ListResultAttempts :many
SELECT task_id, attempt_no, failure_code, failure_message, failure_details, output FROM attempt
WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) AND attempt_no IN (sqlc.slice('attempt_nos')) ORDER BY task_id, attempt_no;

-- The first number that is not settled.
-- lock: none.
-- name: GetFirstDelivery :one
SELECT seq FROM subscription_delivery WHERE namespace_id = ? AND subscription_id = ? ORDER BY seq LIMIT 1;

-- The names of a selection.
-- lock: none; names never change their queue.
-- name: ListQueueNames :many
SELECT queue_id, name FROM queue WHERE namespace_id = ? AND queue_id IN (sqlc.slice('queue_ids')) ORDER BY name;

-- What persons decided about the results that no attempt gave.
-- lock: none.
-- name: ListResultReviews :many
SELECT task_id, state_version, failure_code, failure_message, failure_details, output FROM task_review
WHERE namespace_id = ? AND task_id IN (sqlc.slice('task_ids')) ORDER BY task_id;
