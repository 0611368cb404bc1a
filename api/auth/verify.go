package auth

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/gen/db"
)

const (
	// cacheAge bounds how long a verdict is remembered; revocation must hold everywhere within five seconds.
	cacheAge = 2 * time.Second
	// cacheMax bounds the memory a flood of invented keys can take.
	cacheMax = 8192
	// usedEvery is the grain of last_used_at, so that reading a key does not write a row each time.
	usedEvery = time.Minute
)

// Verifier turns the text of a key into a Caller.
type Verifier struct {
	reader *sql.DB
	mu     sync.Mutex
	cache  map[[2]uint64]*entry
	now    func() time.Time
}

// entry is one remembered row; found tells an unknown id from a known one.
type entry struct {
	mu     sync.Mutex // held while the row is read, so that a burst asks once
	readAt time.Time
	found  bool
	hash   []byte
	caller Caller
	dbTime time.Time // database clock at readAt
}

// NewVerifier reads credentials through a pool that never writes anything but last_used_at.
func NewVerifier(reader *sql.DB) *Verifier {
	return &Verifier{reader: reader, cache: map[[2]uint64]*entry{}, now: time.Now}
}

// Verify judges a key for a scope; the empty scope asks only for a valid key.
func (v *Verifier) Verify(ctx context.Context, text, scope string) (Caller, *problem.Problem) {
	key, ok := Parse(text)
	if !ok {
		return Caller{}, problem.New("credential_invalid", "the text is not a key; it was cut, changed or made up")
	}
	e, err := v.read(ctx, key)
	if err != nil {
		return Caller{}, problem.FromError(err)
	}
	e.mu.Lock()
	found, hash, caller, now := e.found, e.hash, e.caller, e.dbTime.Add(v.now().Sub(e.readAt))
	e.mu.Unlock()
	if !key.Matches(hash) || !found {
		return Caller{}, problem.New("credential_invalid", "the key is not known; ask an administrator for a new one")
	}
	if scope == "" { // any valid key; every key holds at least one scope
		scope, _, _ = strings.Cut(caller.Scopes, " ")
	}
	if refusal := caller.Judge(scope, now); refusal != nil {
		return Caller{}, problem.FromRefusal(refusal)
	}
	return caller, nil
}

func (v *Verifier) read(ctx context.Context, key Key) (*entry, error) {
	e := v.entry([2]uint64{key.Namespace, key.Credential})
	e.mu.Lock()
	defer e.mu.Unlock()
	if v.now().Sub(e.readAt) < cacheAge {
		return e, nil
	}
	start := v.now()
	row, err := db.New(v.reader).GetCredential(ctx, db.GetCredentialParams{NamespaceID: key.Namespace, CredentialID: key.Credential})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	e.readAt, e.found, e.hash = start, err == nil, row.SecretHash
	e.caller, e.dbTime = callerOfRow(key.Namespace, row), row.NowAt
	if e.found && key.Matches(e.hash) && row.NowAt.Sub(timeOf(row.LastUsedAt)) > usedEvery {
		// A hint, and coarse: a failure to write it must not fail the request.
		_ = db.New(v.reader).UpdateCredentialUsed(ctx, db.UpdateCredentialUsedParams{NamespaceID: key.Namespace, CredentialID: key.Credential})
	}
	return e, nil
}

// entry finds or makes the place of a key. A full cache is emptied: everything in it is at most two seconds old.
func (v *Verifier) entry(id [2]uint64) *entry {
	v.mu.Lock()
	defer v.mu.Unlock()
	e, ok := v.cache[id]
	if !ok {
		if len(v.cache) >= cacheMax {
			clear(v.cache)
		}
		e = &entry{}
		v.cache[id] = e
	}
	return e
}

// Forget drops what is remembered of a key; this node revoked or rotated it.
func (v *Verifier) Forget(namespace, credential uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.cache, [2]uint64{namespace, credential})
}
