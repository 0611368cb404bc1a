package api

import (
	"context"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// CreateApplication makes an application of the caller's namespace, with its quota. Refuses: name_conflict.
func (s *Server) CreateApplication(ctx context.Context, r httpapi.CreateApplicationRequestObject) (httpapi.CreateApplicationResponseObject, error) {
	limits := auth.DefaultLimits
	if r.Body.Quota != nil {
		limits = limitsOf(*r.Body.Quota)
	}
	row, err := s.Service.CreateApplication(ctx, auth.CallerOf(ctx), r.Body.Name, limits)
	return httpapi.CreateApplication201JSONResponse(applicationModel(row)), err
}

func limitsOf(q httpapi.QuotaLimits) auth.Limits {
	return auth.Limits{OpenTasksMax: q.OpenTasksMax, RunningAttemptsMax: q.RunningAttemptsMax, OpenInstancesMax: q.OpenInstancesMax, OpenPayloadBytesMax: q.OpenPayloadBytesMax}
}

func applicationModel(row db.GetApplicationRow) httpapi.Application {
	status := httpapi.ApplicationStatusACTIVE
	if row.Status != 1 {
		status = httpapi.ApplicationStatusDISABLED
	}
	return httpapi.Application{ApplicationId: auth.ApplicationText(row.ApplicationID), Name: string(row.Name), Status: status, CreatedAt: row.CreatedAt}
}

// ListApplications pages the applications of the caller's namespace by id.
func (s *Server) ListApplications(ctx context.Context, r httpapi.ListApplicationsRequestObject) (httpapi.ListApplicationsResponseObject, error) {
	c := auth.CallerOf(ctx)
	b := bind(c, "applications")
	after, err := b.readNumber(r.Params.Cursor, 0)
	if err != nil {
		return nil, err
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.q().ListApplications(ctx, db.ListApplicationsParams{NamespaceID: c.Namespace, ApplicationID: after, Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListApplications200JSONResponse{}
	for _, row := range rows {
		out.Items = append(out.Items, applicationModel(db.GetApplicationRow(row)))
	}
	if more {
		out.NextCursor = b.writeNumber(rows[len(rows)-1].ApplicationID)
	}
	return out, nil
}

// number reads an application or credential id whose form the description has already checked.
func number(prefix, text string) uint64 {
	n, _ := auth.ParseID(prefix, text)
	return n
}

// GetQuota reads limits and exact use of an application of the namespace.
func (s *Server) GetQuota(ctx context.Context, r httpapi.GetQuotaRequestObject) (httpapi.GetQuotaResponseObject, error) {
	model, err := s.quota(ctx, r.ApplicationId)
	return httpapi.GetQuota200JSONResponse(model), err
}

// PutQuota changes the limits. Limits below the present use refuse new work and end nothing.
func (s *Server) PutQuota(ctx context.Context, r httpapi.PutQuotaRequestObject) (httpapi.PutQuotaResponseObject, error) {
	err := s.Service.SetQuota(ctx, auth.CallerOf(ctx), number("app", r.ApplicationId), limitsOf(*r.Body))
	if err != nil {
		return nil, err
	}
	model, err := s.quota(ctx, r.ApplicationId)
	return httpapi.PutQuota200JSONResponse(model), err
}

func (s *Server) quota(ctx context.Context, application string) (httpapi.Quota, error) {
	c := auth.CallerOf(ctx)
	row, err := s.q().GetQuota(ctx, db.GetQuotaParams{NamespaceID: c.Namespace, ApplicationID: number("app", application)})
	if err != nil {
		return httpapi.Quota{}, found(err, "application")
	}
	return httpapi.Quota{
		ApplicationId: application, OpenTasksMax: row.OpenTasksMax, RunningAttemptsMax: row.RunningAttemptsMax,
		OpenInstancesMax: row.OpenInstancesMax, OpenPayloadBytesMax: row.OpenPayloadBytesMax, OpenTasks: row.OpenTasks,
		RunningAttempts: row.RunningAttempts, OpenInstances: row.OpenInstances, OpenPayloadBytes: row.OpenPayloadBytes,
	}, nil
}
