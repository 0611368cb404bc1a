-- Rung 4, beside definitions. Schedules after the quota, before queues; versions and triggers never change once written.

-- What may be due, without a lock. A hint: the transaction decides by the database's clock under the head's lock.
-- lock: none.
-- name: ListDueSchedules :many
SELECT schedule_id, application_id, due_at, next_at, waiting_at, last_task_id FROM schedule FORCE INDEX (schedule_due)
WHERE namespace_id = ? AND due_at <= ?
  AND (due_at > sqlc.arg('after_at') OR (due_at = sqlc.arg('after_at') AND schedule_id > sqlc.arg('after_id')))
ORDER BY due_at, schedule_id LIMIT ?;

-- Two that decide one schedule meet here.
-- lock: 4 schedule X, by primary key.
-- name: LockSchedule :one
SELECT * FROM schedule WHERE namespace_id = ? AND schedule_id = ? FOR UPDATE;

-- The heads that one transaction decides, in id order.
-- lock: 4 schedule X, by primary key.
-- name: LockSchedules :many
SELECT * FROM schedule WHERE namespace_id = ? AND schedule_id IN (sqlc.slice('schedule_ids')) ORDER BY schedule_id FOR UPDATE;

-- The versions that the next slots of held heads belong to. The rare others are read one by one.
-- lock: none; versions are immutable, and which ones are meant stands in rows that are held.
-- name: ListPlannedVersions :many
SELECT v.* FROM schedule s JOIN schedule_version v ON v.namespace_id = s.namespace_id AND v.schedule_id = s.schedule_id AND v.version = s.plan_version
WHERE s.namespace_id = ? AND s.schedule_id IN (sqlc.slice('schedule_ids'));

-- lock: 4 schedule X (new row).
-- name: InsertSchedule :execrows
INSERT INTO schedule (namespace_id, schedule_id, application_id, name, version, plan_version, revision, paused, skip_before, last_at, next_at, due_at, waiting_version, created_at, changed_at)
VALUES (?, ?, ?, ?, 1, 1, 1, 0, ?, ?, ?, ?, 0, ?, ?);

-- Where planning stands after decisions on heads that are held. {many}
-- lock: 4 schedule X, held.
-- name: UpdateSchedulePlan :exec
INSERT INTO schedule (namespace_id, schedule_id, application_id, name, version, plan_version, revision, paused, skip_before, last_at, next_at, due_at, waiting_at, waiting_version, last_task_id, created_at, changed_at)
VALUES (?, ?, ?, ?, 0, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE plan_version = VALUES(plan_version), last_at = VALUES(last_at), next_at = VALUES(next_at), due_at = VALUES(due_at),
  waiting_at = VALUES(waiting_at), waiting_version = VALUES(waiting_version), last_task_id = VALUES(last_task_id);

-- What a user changes: version, pause and where planning goes on.
-- lock: 4 schedule X, held.
-- name: UpdateScheduleHead :execrows
UPDATE schedule SET version = ?, plan_version = ?, revision = revision + 1, paused = ?, pause_reason = ?, skip_before = ?, last_at = ?, next_at = ?, due_at = ?, changed_at = ?
WHERE namespace_id = ? AND schedule_id = ? AND revision = ?;

-- lock: none; names never change their schedule.
-- name: GetScheduleByName :one
SELECT * FROM schedule WHERE namespace_id = ? AND application_id = ? AND name = ?;

-- lock: none.
-- name: GetSchedule :one
SELECT * FROM schedule WHERE namespace_id = ? AND schedule_id = ?;

-- lock: none.
-- name: ListSchedules :many
SELECT * FROM schedule WHERE namespace_id = ? AND application_id = ? AND name > ? ORDER BY name LIMIT ?;

-- lock: 4 schedule X (new row).
-- name: InsertScheduleVersion :execrows
INSERT INTO schedule_version (namespace_id, schedule_id, version, effective_from, kind, expression, time_zone, every_ms, anchor_at, dst_gap, dst_repeat, overlap, misfire, catch_up_window_ms,
  queue_id, handler, handler_version, priority, deadline_ms, attempt_timeout_ms, retry_policy, lost_policy, business_key, resource_key, created_by, created_at, digest, output_contract, input)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- lock: none; versions are immutable.
-- name: GetScheduleVersion :one
SELECT * FROM schedule_version WHERE namespace_id = ? AND schedule_id = ? AND version = ?;

-- Newest first, without payloads.
-- lock: none.
-- name: ListScheduleVersions :many
SELECT version, effective_from, kind, expression, time_zone, every_ms, anchor_at, dst_gap, dst_repeat, overlap, misfire, catch_up_window_ms, handler, handler_version, created_by, created_at
FROM schedule_version WHERE namespace_id = ? AND schedule_id = ? AND version < ? ORDER BY version DESC LIMIT ?;

-- A duplicate means that the slot was decided: nothing of the transaction may stand. {many}
-- lock: 4 schedule X (new row).
-- name: InsertScheduleTrigger :execrows
INSERT INTO schedule_trigger (namespace_id, trigger_id, schedule_id, version, planned_at, origin, outcome, task_id, merged_into, reason, decided_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- lock: none.
-- name: GetScheduleTrigger :one
SELECT * FROM schedule_trigger WHERE namespace_id = ? AND trigger_id = ?;

-- Newest planned time first.
-- lock: none.
-- name: ListScheduleTriggers :many
SELECT * FROM schedule_trigger FORCE INDEX (trigger_list)
WHERE namespace_id = ? AND schedule_id = ?
  AND (planned_at < sqlc.arg('before_at') OR (planned_at = sqlc.arg('before_at') AND trigger_id < sqlc.arg('before_id')))
ORDER BY planned_at DESC, trigger_id DESC LIMIT ?;

-- What already ran in a range, for a backfill. Guarded by the head's lock.
-- lock: none.
-- name: ListScheduleTriggersBetween :many
SELECT planned_at, version, origin, outcome, task_id FROM schedule_trigger FORCE INDEX (trigger_list)
WHERE namespace_id = ? AND schedule_id = ? AND planned_at >= sqlc.arg('from_at') AND planned_at < sqlc.arg('until_at') AND origin IN (1, 3)
ORDER BY planned_at, trigger_id;

-- The name of the queue a version's tasks go to; it never changes.
-- lock: none.
-- name: GetQueueName :one
SELECT name FROM queue WHERE namespace_id = ? AND queue_id = ?;
