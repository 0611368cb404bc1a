package api

import (
	"context"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// ListAudit pages the audit of the caller's namespace in order of time, of everything or of one subject.
func (s *Server) ListAudit(ctx context.Context, r httpapi.ListAuditRequestObject) (httpapi.ListAuditResponseObject, error) {
	c := auth.CallerOf(ctx)
	subject := ""
	if r.Params.Subject != nil {
		subject = *r.Params.Subject
	}
	b := bind(c, "audit", subject)
	after, err := b.read(r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	if after == nil {
		after = make([]byte, len(engine.ID{}))
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.audit(ctx, c.Namespace, subject, after, limit+1)
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListAudit200JSONResponse{}
	for _, row := range rows {
		out.Items = append(out.Items, auditModel(row))
	}
	if more {
		out.NextCursor = b.write(rows[len(rows)-1].AuditID)
	}
	return out, nil
}

func (s *Server) audit(ctx context.Context, ns uint64, subject string, after []byte, limit int32) ([]db.ListAuditRow, error) {
	if subject == "" {
		return s.q().ListAudit(ctx, db.ListAuditParams{NamespaceID: ns, AuditID: after, Limit: limit})
	}
	rows, err := s.q().ListAuditBySubject(ctx, db.ListAuditBySubjectParams{NamespaceID: ns, Subject: []byte(subject), AuditID: after, Limit: limit})
	out := make([]db.ListAuditRow, len(rows))
	for i, row := range rows {
		out[i] = db.ListAuditRow(row)
	}
	return out, err
}

func auditModel(row db.ListAuditRow) httpapi.AuditEntry {
	out := httpapi.AuditEntry{
		AuditId: idText(prefixAudit, row.AuditID), OperationId: idText(prefixOperation, row.OperationID), Actor: string(row.Actor),
		Action: string(row.Action), Subject: string(row.Subject), At: row.At, Reason: optional(row.Reason), Detail: row.Detail,
	}
	if row.ApplicationID != 0 {
		out.ApplicationId = pointer(auth.ApplicationText(row.ApplicationID))
	}
	return out
}
