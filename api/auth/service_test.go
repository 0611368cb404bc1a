package auth_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/dbtest"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/api/tx"
)

func newService(t *testing.T) (*auth.Service, *auth.Verifier, *dbtest.DB) {
	t.Helper()
	d := dbtest.New(t)
	writer, err := tx.Open(d.DSN(), 8)
	must(t, err)
	t.Cleanup(func() { _ = writer.Close() })
	reader, err := tx.OpenReader(d.DSN(), 8)
	must(t, err)
	t.Cleanup(func() { _ = reader.Close() })
	v := auth.NewVerifier(reader)
	return auth.NewService(writer, reader, v), v, d
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func verify(t *testing.T, v *auth.Verifier, k auth.Issued, scope string) auth.Caller {
	t.Helper()
	c, refused := v.Verify(t.Context(), k.Key.Text(), scope)
	if refused != nil {
		t.Fatal(refused)
	}
	return c
}

// Ten processes may bootstrap the same names at once: one namespace, one application, ten keys that all work.
func TestBootstrapRaces(t *testing.T) {
	s, v, d := newService(t)
	var wg sync.WaitGroup
	keys := make([]auth.Issued, 10)
	errs := make([]error, 10)
	for i := range keys {
		wg.Go(func() { keys[i], errs[i] = s.Bootstrap(t.Context(), "ns", "app", "k", []string{auth.ScopeTasksRead}) })
	}
	wg.Wait()
	for i := range keys {
		must(t, errs[i])
		if keys[i].Key.Namespace != keys[0].Key.Namespace || keys[i].Application != keys[0].Application {
			t.Error("two namespaces or applications of one name")
		}
		verify(t, v, keys[i], auth.ScopeTasksRead)
	}
	for table, want := range map[string]int{"namespace": 1, "application": 1, "quota": 1, "stream_head": 1, "credential": 10, "audit": 12} {
		var got int
		must(t, d.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&got))
		if got != want {
			t.Errorf("%s has %d rows, want %d", table, got, want)
		}
	}
}

// Only the hash is stored.
func TestTheSecretIsNotInTheDatabase(t *testing.T) {
	s, _, d := newService(t)
	k, err := s.Bootstrap(t.Context(), "ns", "app", "k", auth.AllScopes)
	must(t, err)
	var hash []byte
	must(t, d.QueryRowContext(t.Context(), "SELECT secret_hash FROM credential").Scan(&hash))
	if want := k.Key.Hash(); string(hash) != string(want[:]) || string(hash) == string(k.Key.Secret[:]) {
		t.Error("what is stored is not the hash")
	}
}

// An application's administrator acts in its own namespace only, and a scope that does not exist cannot be granted.
func TestAdministrationStaysInItsNamespace(t *testing.T) {
	s, v, _ := newService(t)
	here, err := s.Bootstrap(t.Context(), "here", "app", "k", auth.AllScopes)
	must(t, err)
	there, err := s.Bootstrap(t.Context(), "there", "app", "k", auth.AllScopes)
	must(t, err)
	admin := verify(t, v, here, auth.ScopePlatformAdmin)
	refused := func(err error, code string) {
		t.Helper()
		var p *problem.Problem
		if !errors.As(err, &p) || p.Code != code {
			t.Errorf("%v, want %s", err, code)
		}
	}
	_, err = s.CreateCredential(t.Context(), admin, there.Application, "k", auth.AllScopes, 0)
	refused(err, "application_not_found")
	_, err = s.RevokeCredential(t.Context(), admin, there.ID, "r")
	refused(err, "credential_not_found")
	_, err = s.RotateCredential(t.Context(), admin, there.ID, 0, 0)
	refused(err, "credential_not_found")
	refused(s.SetQuota(t.Context(), admin, there.Application, auth.DefaultLimits), "application_not_found")
	_, err = s.CreateCredential(t.Context(), admin, here.Application, "k", []string{"root"}, 0)
	refused(err, "scope_unknown")
	_, err = s.CreateApplication(t.Context(), admin, "app", auth.DefaultLimits)
	refused(err, "name_conflict")
	verify(t, v, there, auth.ScopePlatformAdmin)
}

// An administrator that was revoked after its request was let in is refused by its transaction.
func TestTheTransactionJudgesAgain(t *testing.T) {
	s, v, d := newService(t)
	k, err := s.Bootstrap(t.Context(), "ns", "app", "k", auth.AllScopes)
	must(t, err)
	admin := verify(t, v, k, auth.ScopePlatformAdmin)
	_, err = d.ExecContext(t.Context(), "UPDATE credential SET revoked_at = NOW(6)")
	must(t, err)
	for name, err := range map[string]error{
		"application": second(s.CreateApplication(t.Context(), admin, "new", auth.DefaultLimits)),
		"credential":  second(s.CreateCredential(t.Context(), admin, k.Application, "new", auth.AllScopes, 0)),
		"rotation":    second(s.RotateCredential(t.Context(), admin, k.ID, 0, 0)),
		"quota":       s.SetQuota(t.Context(), admin, k.Application, auth.DefaultLimits),
	} {
		if p := problem.FromError(err); err == nil || p.Code != "credential_revoked" && p.Code != "rotation_conflict" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Expiry is judged by the database's clock, also from the memory of a node.
func TestExpiryAndMemory(t *testing.T) {
	s, v, d := newService(t)
	k, err := s.Bootstrap(t.Context(), "ns", "app", "k", auth.AllScopes)
	must(t, err)
	admin := verify(t, v, k, auth.ScopePlatformAdmin)
	short, err := s.CreateCredential(t.Context(), admin, k.Application, "short", []string{auth.ScopeTasksRead}, 700*time.Millisecond)
	must(t, err)
	verify(t, v, short, auth.ScopeTasksRead)
	time.Sleep(time.Second) // the verdict is still remembered; the key has ended
	if _, refused := v.Verify(t.Context(), short.Key.Text(), auth.ScopeTasksRead); refused == nil || refused.Code != "credential_expired" {
		t.Errorf("an expired key: %v", refused)
	}
	_, err = d.ExecContext(t.Context(), "UPDATE credential SET revoked_at = NOW(6)") // another node revokes
	must(t, err)
	revoked := time.Now()
	for {
		_, refused := v.Verify(t.Context(), k.Key.Text(), auth.ScopeTasksRead)
		if refused != nil {
			break
		}
		if time.Since(revoked) > 5*time.Second {
			t.Fatal("a revoked key works after five seconds")
		}
		time.Sleep(50 * time.Millisecond)
	}
}
