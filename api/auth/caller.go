package auth

import (
	"context"
	"time"

	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/gen/db"
)

// Caller is an authenticated key. The namespace comes from here and never from the request (O12).
type Caller struct {
	engine.Caller
	Namespace       uint64
	ApplicationName string
	CredentialName  string
}

// Actor is how the audit names the caller.
func (c Caller) Actor() string { return CredentialText(c.Credential) }

type callerKey struct{}

// WithCaller carries the caller of a request.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf is the caller the middleware put there; the zero Caller, which is allowed nothing, when there is none.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

type judgeKey struct{}

// WithJudge carries how the caller of a request is judged again.
func WithJudge(ctx context.Context, judge func(context.Context) *problem.Problem) context.Context {
	return context.WithValue(ctx, judgeKey{}, judge)
}

// JudgeAgain judges the caller of a request that takes long: a key revoked or expired meanwhile is refused within the
// seconds a verdict is remembered. It is nil when the caller may go on.
func JudgeAgain(ctx context.Context) *problem.Problem {
	judge, ok := ctx.Value(judgeKey{}).(func(context.Context) *problem.Problem)
	if !ok {
		return nil
	}
	return judge(ctx)
}

func callerOfRow(namespace uint64, row db.GetCredentialRow) Caller {
	return Caller{
		Caller: engine.Caller{
			Credential: row.CredentialID, Application: row.ApplicationID, Scopes: row.Scopes,
			ExpiresAt: timeOf(row.ExpiresAt), RevokedAt: timeOf(row.RevokedAt),
			ApplicationActive: row.ApplicationStatus == statusActive, NamespaceActive: row.NamespaceStatus == statusActive,
		},
		Namespace: namespace, ApplicationName: string(row.ApplicationName), CredentialName: string(row.Name),
	}
}

// statusActive is the status of an enabled namespace or application.
const statusActive = 1

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
