package engine

import (
	"slices"
	"strings"
	"time"
)

// Caller is who asks, as read under the shared identity lock of the transaction that decides (pulse.md Tenancy).
type Caller struct {
	Credential, Application uint64
	Scopes                  string // space-separated
	ExpiresAt, RevokedAt    time.Time
	ApplicationActive       bool
	NamespaceActive         bool
}

// Allows reports whether the scope is granted literally; no scope implies another.
func (c Caller) Allows(scope string) bool { return slices.Contains(strings.Fields(c.Scopes), scope) }

// Judge re-checks a permission at the time of the transaction. A replayed receipt passes here too: a revoked key
// reads no old receipt.
func (c Caller) Judge(scope string, now time.Time) *Refusal {
	switch {
	case c.Credential == 0:
		return Refuse("credential_invalid", "the key is not known; ask an administrator for a new one")
	case !c.RevokedAt.IsZero():
		return Refuse("credential_revoked", "the key was revoked; ask an administrator for a new one")
	case !c.ExpiresAt.IsZero() && !now.Before(c.ExpiresAt):
		return Refuse("credential_expired", "the key has expired; rotate it or ask for a new one")
	case !c.NamespaceActive:
		return Refuse("namespace_disabled", "the namespace is disabled; nothing new starts until it is enabled")
	case !c.ApplicationActive:
		return Refuse("application_disabled", "the application is disabled; nothing new starts until it is enabled")
	case !c.Allows(scope):
		return Refuse("scope_missing", "the key lacks the scope "+scope)
	}
	return nil
}
