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
	mu        sync.Mutex
	compiled  map[VersionKey]*weave.Version
	instances map[instanceKey]VersionKey
}

type instanceKey struct {
	namespace uint64
	instance  engine.ID
}

// NewVersions makes an empty cache.
func NewVersions() *Versions {
	return &Versions{compiled: map[VersionKey]*weave.Version{}, instances: map[instanceKey]VersionKey{}}
}

// instancesMax bounds the instances whose version is remembered; a forgotten one costs a row of one statement.
const instancesMax = 1 << 16

// remember keeps which version an instance runs on. That never changes, and whether the instance exists is decided
// by its row alone.
func (v *Versions) remember(instance engine.ID, key VersionKey) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.instances) >= instancesMax {
		clear(v.instances)
	}
	v.instances[instanceKey{key.Namespace, instance}] = key
}

// remembered splits instances into those whose version is known and the others.
func (v *Versions) remembered(namespace uint64, ids []engine.ID) (known map[engine.ID]VersionKey, unknown []engine.ID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	known = make(map[engine.ID]VersionKey, len(ids))
	for _, id := range ids {
		if key, ok := v.instances[instanceKey{namespace, id}]; ok {
			known[id] = key
		} else {
			unknown = append(unknown, id)
		}
	}
	return known, unknown
}

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

// headKey names a definition.
type headKey struct {
	application uint64
	name        string
}

// forStart resolves the version a start begins on. The latest one is read while the quota is held, which a publisher
// needs too, so it cannot move before the start commits; latest keeps it for the other starts of the transaction.
func (v *Versions) forStart(ctx context.Context, q *db.Queries, namespace uint64, s *weave.Start, latest map[headKey]uint32) (weave.StartVersion, error) {
	version, head := s.Version, headKey{s.Application, s.Definition}
	if version == 0 {
		version = latest[head]
	}
	if version == 0 {
		row, err := q.GetDefinition(ctx, db.GetDefinitionParams{NamespaceID: namespace, ApplicationID: s.Application, Name: []byte(s.Definition)})
		if errors.Is(err, sql.ErrNoRows) || err == nil && row.LatestVersion == 0 {
			return weave.StartVersion{Refusal: engine.Refuse("workflow_not_found", "publish the workflow first").At("/definition")}, nil
		}
		if err != nil {
			return weave.StartVersion{}, err
		}
		version = row.LatestVersion
		latest[head] = version
	}
	key := VersionKey{namespace, s.Application, s.Definition, version}
	found, err := v.get(ctx, q, key)
	if errors.Is(err, errNoVersion) {
		return weave.StartVersion{Refusal: engine.Refuse("version_not_found", "publish this version first, or leave the version out for the latest").At("/version")}, nil
	}
	if err == nil {
		v.remember(s.Instance, key)
	}
	return weave.StartVersion{Version: found}, err
}
