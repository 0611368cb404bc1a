package auth

import (
	"slices"
	"strings"
)

// Scopes of the platform (pulse.md Tenancy). Review, retry, audit, signal, control and recover are never implied, and
// in fact none implies another.
const (
	ScopeTasksSubmit          = "tasks:submit"
	ScopeTasksRead            = "tasks:read"
	ScopeTasksCancel          = "tasks:cancel"
	ScopeTasksReview          = "tasks:review"
	ScopeTasksRetry           = "tasks:retry"
	ScopeTasksAuditRead       = "tasks:audit:read"
	ScopeWorkerClaim          = "worker:claim"
	ScopeQueuesManage         = "queues:manage"
	ScopeSchedulesRead        = "schedules:read"
	ScopeSchedulesManage      = "schedules:manage"
	ScopeSubscriptionsManage  = "subscriptions:manage"
	ScopeSubscriptionsConsume = "subscriptions:consume"
	ScopeWorkflowsPublish     = "workflows:publish"
	ScopeWorkflowsStart       = "workflows:start"
	ScopeWorkflowsRead        = "workflows:read"
	ScopeWorkflowsSignal      = "workflows:signal"
	ScopeWorkflowsControl     = "workflows:control"
	ScopeWorkflowsRecover     = "workflows:recover"
	ScopePlatformAdmin        = "platform:admin"
)

// AllScopes lists every scope in the order of the description.
var AllScopes = []string{
	ScopeTasksSubmit, ScopeTasksRead, ScopeTasksCancel, ScopeTasksReview, ScopeTasksRetry, ScopeTasksAuditRead,
	ScopeWorkerClaim, ScopeQueuesManage, ScopeSchedulesRead, ScopeSchedulesManage, ScopeSubscriptionsManage,
	ScopeSubscriptionsConsume, ScopeWorkflowsPublish, ScopeWorkflowsStart, ScopeWorkflowsRead, ScopeWorkflowsSignal,
	ScopeWorkflowsControl, ScopeWorkflowsRecover, ScopePlatformAdmin,
}

// joinScopes stores scopes as the credential's row does: sorted, each once, separated by blanks.
func joinScopes(scopes []string) string {
	sorted := slices.Clone(scopes)
	slices.Sort(sorted)
	return strings.Join(slices.Compact(sorted), " ")
}

// unknownScope is the first scope that does not exist, or the empty text.
func unknownScope(scopes []string) string {
	for _, s := range scopes {
		if !slices.Contains(AllScopes, s) {
			return s
		}
	}
	return ""
}
