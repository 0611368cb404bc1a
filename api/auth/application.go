package auth

import (
	"context"

	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/gen/db"
)

// CreateApplication makes an application of the caller's namespace with its quota. Errors: name_conflict.
func (s *Service) CreateApplication(ctx context.Context, c Caller, name string, limits Limits) (db.GetApplicationRow, error) {
	id := NewID()
	out := db.GetApplicationRow{ApplicationID: id, Name: []byte(name), Status: statusActive}
	err := s.writer.Run(ctx, c.Namespace, "create_application", func(ctx context.Context, b tx.Begun) error {
		if _, _, err := admit(ctx, b, c); err != nil {
			return err
		}
		err := insertApplication(ctx, b.Tx, id, name, limits, c.Actor())
		return taken(err, "an application of this name exists in the namespace")
	})
	if err != nil {
		return out, err
	}
	return db.New(s.reader).GetApplication(ctx, db.GetApplicationParams{NamespaceID: c.Namespace, ApplicationID: id})
}

func insertApplication(ctx context.Context, t *tx.Tx, id uint64, name string, limits Limits, actor string) error {
	ns := t.Namespace()
	err := one(t.Queries().InsertApplication(ctx, db.InsertApplicationParams{NamespaceID: ns, ApplicationID: id, Name: []byte(name)}))
	if err != nil {
		return err
	}
	err = one(t.Queries().InsertQuota(ctx, db.InsertQuotaParams{
		NamespaceID: ns, ApplicationID: id, OpenTasksMax: limits.OpenTasksMax, RunningAttemptsMax: limits.RunningAttemptsMax,
		OpenInstancesMax: limits.OpenInstancesMax, OpenPayloadBytesMax: limits.OpenPayloadBytesMax,
	}))
	if err != nil {
		return err
	}
	return record(ctx, t, id, actor, "application.created", ApplicationText(id), "", append(limits.members(), exact.Field("name", exact.String(name)))...)
}

func (l Limits) members() []exact.Member {
	return []exact.Member{
		exact.Field("open_tasks_max", exact.Int(l.OpenTasksMax)),
		exact.Field("running_attempts_max", exact.Int(l.RunningAttemptsMax)),
		exact.Field("open_instances_max", exact.Int(l.OpenInstancesMax)),
		exact.Field("open_payload_bytes_max", exact.Int(l.OpenPayloadBytesMax)),
	}
}

// SetQuota changes the limits of an application. Limits below the present use refuse new work and end nothing.
// Errors: application_not_found.
func (s *Service) SetQuota(ctx context.Context, c Caller, application uint64, limits Limits) error {
	return s.writer.Run(ctx, c.Namespace, "set_quota", func(ctx context.Context, b tx.Begun) error {
		_, held, err := admit(ctx, b, c, application)
		if err != nil {
			return err
		}
		rows, _, err := held.LockQuotas(ctx, []uint64{application})
		if err != nil {
			return err
		}
		if len(rows) != 1 {
			return problem.Missing("application")
		}
		err = one(b.Queries().UpdateQuotaLimits(ctx, db.UpdateQuotaLimitsParams{
			OpenTasksMax: limits.OpenTasksMax, RunningAttemptsMax: limits.RunningAttemptsMax, OpenInstancesMax: limits.OpenInstancesMax,
			OpenPayloadBytesMax: limits.OpenPayloadBytesMax, NamespaceID: c.Namespace, ApplicationID: application,
		}))
		if err != nil {
			return err
		}
		return record(ctx, b.Tx, application, c.Actor(), "quota.changed", ApplicationText(application), "", limits.members()...)
	})
}
