package store

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
)

// NewID makes a UUIDv7.
func NewID() engine.ID { return engine.ID(uuid.Must(uuid.NewV7())) }

// Bytes lists ids as binary keys, sorted and without repeats, as locking reads want them.
func Bytes(ids []engine.ID) [][]byte {
	sorted := slices.Clone(ids)
	slices.SortFunc(sorted, func(a, b engine.ID) int { return slices.Compare(a[:], b[:]) })
	sorted = slices.Compact(sorted)
	out := make([][]byte, len(sorted))
	for i := range sorted {
		out[i] = sorted[i][:]
	}
	return out
}

// plain lists ids in the given order.
func plain(ids []engine.ID) [][]byte {
	out := make([][]byte, len(ids))
	for i := range ids {
		out[i] = ids[i][:]
	}
	return out
}

// ID reads a binary key; NULL is the zero id.
func ID(b []byte) engine.ID {
	if len(b) != len(engine.ID{}) {
		return engine.ID{}
	}
	return engine.ID(b)
}

func idOrNull(id engine.ID) []byte {
	if id.Zero() {
		return nil
	}
	return id[:]
}

// Text turns an empty text into NULL, which is what optional user keys mean (pulse.md Task).
func Text(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Time reads a nullable time; NULL is the zero time.
func Time(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

func openTask(r *db.LockOpenTasksRow) pulse.Task {
	return pulse.Task{
		ID: ID(r.TaskID), Application: r.ApplicationID, Queue: r.QueueID, State: pulse.State(r.State), Version: r.StateVersion,
		Priority: r.Priority, AttemptNo: r.AttemptNo, AttemptsUsed: r.AttemptsUsed, MaxAttempts: r.MaxAttempts,
		Lost: pulse.LostPolicy(r.LostPolicy), HasContract: r.HasContract == 1, PermitHeld: r.PermitHeld == 1,
		HandlerHash: r.HandlerHash, AttemptTimeout: time.Duration(r.AttemptTimeoutMs) * time.Millisecond, InputBytes: r.InputBytes,
		AvailableAt: r.AvailableAt, DeadlineAt: r.DeadlineAt, StartedAt: Time(r.StartedAt), LeaseUntil: Time(r.LeaseUntil),
		CancelRequestedAt: Time(r.CancelRequestedAt), Token: ID(r.Token), Worker: string(r.Worker),
		ResourceKey: string(r.ResourceKey), Gate: ID(r.GateID), Owner: ID(r.OwnerID),
	}
}

func openRow(ns uint64, t *pulse.Task) db.InsertOpenTaskParams {
	return db.InsertOpenTaskParams{
		NamespaceID: ns, TaskID: t.ID[:], ApplicationID: t.Application, QueueID: t.Queue, State: uint8(t.State), StateVersion: t.Version,
		Priority: t.Priority, AttemptNo: t.AttemptNo, AttemptsUsed: t.AttemptsUsed, MaxAttempts: t.MaxAttempts,
		LostPolicy: uint8(t.Lost), HasContract: bit(t.HasContract), PermitHeld: bit(t.PermitHeld),
		HandlerHash: t.HandlerHash, AttemptTimeoutMs: uint64(t.AttemptTimeout.Milliseconds()), InputBytes: t.InputBytes,
		AvailableAt: t.AvailableAt, DeadlineAt: t.DeadlineAt, StartedAt: timeOrNull(t.StartedAt), LeaseUntil: timeOrNull(t.LeaseUntil),
		CancelRequestedAt: timeOrNull(t.CancelRequestedAt), Token: idOrNull(t.Token), Worker: Text(t.Worker),
		ResourceKey: Text(t.ResourceKey), GateID: idOrNull(t.Gate), OwnerID: idOrNull(t.Owner),
	}
}

// Caller reads a credential locked for a transaction.
func Caller(r *db.LockCredentialsRow) engine.Caller {
	return engine.Caller{
		Credential: r.CredentialID, Application: r.ApplicationID, Scopes: r.Scopes,
		ExpiresAt: Time(r.ExpiresAt), RevokedAt: Time(r.RevokedAt),
		ApplicationActive: r.ApplicationStatus == 1, NamespaceActive: r.NamespaceStatus == 1,
	}
}

// Quotas reads locked quota rows.
func Quotas(rows []db.LockQuotasRow) map[uint64]pulse.Quota {
	out := make(map[uint64]pulse.Quota, len(rows))
	for _, r := range rows {
		out[r.ApplicationID] = pulse.Quota{
			Application: r.ApplicationID, OpenTasksMax: r.OpenTasksMax, RunningAttemptsMax: r.RunningAttemptsMax,
			OpenInstancesMax: r.OpenInstancesMax, OpenPayloadBytesMax: r.OpenPayloadBytesMax, OpenTasks: r.OpenTasks,
			RunningAttempts: r.RunningAttempts, OpenInstances: r.OpenInstances, OpenPayloadBytes: r.OpenPayloadBytes,
		}
	}
	return out
}

// Queues reads locked queue rows.
func Queues(rows []db.LockQueuesRow) map[uint64]pulse.Queue {
	out := make(map[uint64]pulse.Queue, len(rows))
	for _, r := range rows {
		out[r.QueueID] = pulse.Queue{
			ID: r.QueueID, Application: r.ApplicationID, Name: string(r.Name), OpenTasksMax: r.OpenTasksMax,
			RunningAttemptsMax: r.RunningAttemptsMax, Paused: r.Paused == 1, Draining: r.Draining == 1,
			OpenTasks: r.OpenTasks, RunningAttempts: r.RunningAttempts, CreatedAt: r.CreatedAt,
		}
	}
	return out
}
