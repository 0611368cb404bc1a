package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/engine/weave/definition"
	"github.com/orbitrun/orbit/gen/db"
)

// versionsMax bounds the compiled versions a node keeps; a full cache is emptied, which costs a read each.
const versionsMax = 4096

// VersionKey names one published version.
type VersionKey struct {
	Namespace, Application uint64
	Name                   string
	Version                uint32
}

// Versions keeps compiled versions. A version never changes and a queue never changes its name, so nothing in it can
// be stale; it may be empty at any time.
type Versions struct {
	mu       sync.Mutex
	compiled map[VersionKey]*weave.Version
}

// NewVersions makes an empty cache.
func NewVersions() *Versions { return &Versions{compiled: map[VersionKey]*weave.Version{}} }

// errNoVersion reports a version that was never published.
var errNoVersion = errors.New("store: no such workflow version")

// get finds or loads a version: its text is held against its digest, its queue names against the application's queues.
func (v *Versions) get(ctx context.Context, q *db.Queries, key VersionKey) (*weave.Version, error) {
	v.mu.Lock()
	known := v.compiled[key]
	v.mu.Unlock()
	if known != nil {
		return known, nil
	}
	loaded, err := loadVersion(ctx, q, key)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.compiled) >= versionsMax {
		clear(v.compiled)
	}
	v.compiled[key] = loaded
	return loaded, nil
}

func loadVersion(ctx context.Context, q *db.Queries, key VersionKey) (*weave.Version, error) {
	row, err := q.GetVersion(ctx, db.GetVersionParams{
		NamespaceID: key.Namespace, ApplicationID: key.Application, Name: []byte(key.Name), Version: key.Version,
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errNoVersion
	}
	if err != nil {
		return nil, err
	}
	def, err := definition.Load(row.Document, [32]byte(row.Digest))
	if err != nil {
		return nil, fmt.Errorf("workflow %s version %d: %w", key.Name, key.Version, err)
	}
	out := &weave.Version{Definition: def, Queues: map[string]uint64{}}
	for _, name := range def.Queues() {
		queue, err := q.GetQueueByName(ctx, db.GetQueueByNameParams{NamespaceID: key.Namespace, ApplicationID: key.Application, Name: []byte(name)})
		if err != nil {
			return nil, fmt.Errorf("workflow %s version %d: queue %s: %w", key.Name, key.Version, name, err)
		}
		out.Queues[name] = queue.QueueID
	}
	return out, nil
}

// forStart resolves the version a start begins on. The latest one is read while the quota is held, which a publisher
// needs too, so it cannot move before the start commits.
func (v *Versions) forStart(ctx context.Context, q *db.Queries, namespace uint64, s *weave.Start) (weave.StartVersion, error) {
	version := s.Version
	if version == 0 {
		head, err := q.GetDefinition(ctx, db.GetDefinitionParams{NamespaceID: namespace, ApplicationID: s.Application, Name: []byte(s.Definition)})
		if errors.Is(err, sql.ErrNoRows) || err == nil && head.LatestVersion == 0 {
			return weave.StartVersion{Refusal: engine.Refuse("workflow_not_found", "publish the workflow first").At("/definition")}, nil
		}
		if err != nil {
			return weave.StartVersion{}, err
		}
		version = head.LatestVersion
	}
	found, err := v.get(ctx, q, VersionKey{namespace, s.Application, s.Definition, version})
	if errors.Is(err, errNoVersion) {
		return weave.StartVersion{Refusal: engine.Refuse("version_not_found", "publish this version first, or leave the version out for the latest").At("/version")}, nil
	}
	return weave.StartVersion{Version: found}, err
}
