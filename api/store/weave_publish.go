package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/engine/weave/definition"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// Publisher is who publishes: a credential and the namespace and application it belongs to.
type Publisher struct{ Namespace, Application, Credential uint64 }

// Publication is the answer: a receipt, or why there is none. Problems are the findings about the document, warnings
// included; with errors among them the refusal is definition_invalid.
type Publication struct {
	Receipt  []byte
	Replayed bool
	Problems []definition.Problem
	Refusal  *engine.Refusal
}

// errRefused rolls a transaction back whose answer is a refusal.
var errRefused = errors.New("store: refused")

// Publish judges a document and stores it byte for byte as a new immutable version. The same version with the same
// content gives the first receipt, with other content version_conflict. The key is optional; with one, the same key
// never publishes two things.
//
// lock: 1 identity S, 2 quota X, (3 receipt), 4 definition X, 5 queues X.
func Publish(ctx context.Context, d *tx.DB, who Publisher, document []byte, key string) (Publication, error) {
	known, refusal, err := queueNames(ctx, d, who)
	if err != nil || refusal != nil {
		return Publication{Refusal: refusal}, err
	}
	def, problems := definition.Check(document, definition.Options{
		Queues: func(name string) bool { return known[name] != 0 }, Runnable: weave.Runnable(),
	})
	if def == nil {
		return Publication{Problems: problems, Refusal: engine.Refuse("definition_invalid", "repair what errors names")}, nil
	}
	p := &publish{ctx: ctx, who: who, key: key, document: document, def: def, queues: known}
	err = d.Run(ctx, who.Namespace, "publish", func(ctx context.Context, b tx.Begun) error { return p.run(b) })
	if errors.Is(err, errRefused) {
		err = nil
	}
	p.out.Problems = problems
	return p.out, err
}

// queueNames lists the application's queues for somebody who may publish. A queue never goes and never changes its
// name, so what a document was judged by still holds when it is stored.
func queueNames(ctx context.Context, d *tx.DB, who Publisher) (map[string]uint64, *engine.Refusal, error) {
	const page = 1000
	var known map[string]uint64
	var refusal *engine.Refusal
	err := d.Run(ctx, who.Namespace, "publish_check", func(ctx context.Context, b tx.Begun) error {
		known = map[string]uint64{}
		now, err := b.Clock(ctx)
		if err != nil {
			return err
		}
		if _, refusal, err = publisher(ctx, b, who, now); err != nil || refusal != nil {
			return err
		}
		for last := []byte{}; ; {
			rows, err := b.Queries().ListQueues(ctx, db.ListQueuesParams{NamespaceID: who.Namespace, ApplicationID: who.Application, Name: last, Limit: page})
			if err != nil {
				return err
			}
			for _, r := range rows {
				known[string(r.Name)], last = r.QueueID, r.Name
			}
			if len(rows) < page {
				return nil
			}
		}
	})
	return known, refusal, err
}

func publisher(ctx context.Context, b tx.Begun, who Publisher, now time.Time) (tx.Identified, *engine.Refusal, error) {
	callers, _, identified, err := b.LockIdentity(ctx, []uint64{who.Credential}, nil)
	if err != nil {
		return identified, nil, err
	}
	var caller engine.Caller
	if len(callers) == 1 && callers[0].ApplicationID == who.Application {
		caller = Caller(&callers[0])
	}
	return identified, caller.Judge("workflows:publish", now), nil
}

type publish struct {
	ctx      context.Context
	who      Publisher
	key      string
	document []byte
	def      *definition.Definition
	queues   map[string]uint64
	out      Publication
}

func (p *publish) refuse(r *engine.Refusal) error {
	p.out = Publication{Refusal: r}
	return errRefused
}

func (p *publish) run(b tx.Begun) error {
	now, err := b.Clock(p.ctx)
	if err != nil {
		return err
	}
	identified, refusal, err := publisher(p.ctx, b, p.who, now)
	if err != nil {
		return err
	}
	if refusal != nil {
		return p.refuse(refusal)
	}
	_, quota, err := identified.LockQuotas(p.ctx, []uint64{p.who.Application})
	if err != nil {
		return err
	}
	if done, err := p.replayed(b.Tx); done || err != nil {
		return err
	}
	head, place, err := quota.LockDefinition(p.ctx, p.who.Application, p.def.Name, now)
	if err != nil {
		return err
	}
	if done, err := p.known(b.Tx); done || err != nil {
		return err
	}
	if _, _, err := place.LockQueues(p.ctx, p.queueIDs()); err != nil {
		return err
	}
	return p.write(b.Tx, head.LatestVersion)
}

func (p *publish) queueIDs() []uint64 {
	var ids []uint64
	for _, name := range p.def.Queues() {
		ids = append(ids, p.queues[name])
	}
	return ids
}

// replayed answers a key that was used before.
func (p *publish) replayed(t *tx.Tx) (bool, error) {
	if p.key == "" {
		return false, nil
	}
	found := map[pulse.ReceiptKey]pulse.Receipt{}
	if err := LoadReceipts(p.ctx, t, map[pulse.ReceiptKey]bool{p.receiptKey(): true}, found); err != nil {
		return false, err
	}
	r, ok := found[p.receiptKey()]
	if !ok {
		return false, nil
	}
	if r.Digest != p.def.Digest {
		return true, p.refuse(engine.Refuse("idempotency_conflict", "this key was used to publish other content; use a new key"))
	}
	p.out = Publication{Receipt: r.Body, Replayed: true}
	return true, nil
}

func (p *publish) receiptKey() pulse.ReceiptKey {
	return pulse.ReceiptKey{Application: p.who.Application, Kind: pulse.ReceiptPublish, Key: p.key}
}

// known answers a version that exists: with its first receipt, or by naming it as what stands in the way. The
// definition's name and version are part of the digest, so equal digests mean the same version.
func (p *publish) known(t *tx.Tx) (bool, error) {
	row, err := t.Queries().GetVersion(p.ctx, db.GetVersionParams{
		NamespaceID: t.Namespace(), ApplicationID: p.who.Application, Name: []byte(p.def.Name), Version: uint32(p.def.Version),
	})
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return true, err
	}
	first := p.receipt([32]byte(row.Digest), row.CreatedAt)
	if [32]byte(row.Digest) == p.def.Digest {
		p.out = Publication{Receipt: first, Replayed: true}
		return true, nil
	}
	refusal := engine.Refuse("version_conflict", fmt.Sprintf(
		"version %d was published at %s with digest %x; publish other content as another version", p.def.Version, pulse.Time(row.CreatedAt), row.Digest)).At("/version")
	refusal.Subject = fmt.Sprintf("%s@%d", p.def.Name, p.def.Version)
	return true, p.refuse(refusal)
}

func (p *publish) receipt(digest [32]byte, at time.Time) []byte {
	return fmt.Appendf(nil, `{"definition":%q,"version":%d,"digest":%q,"published_at":%q}`,
		p.def.Name, p.def.Version, hex.EncodeToString(digest[:]), pulse.Time(at))
}

// write stores version, head, receipt and audit.
func (p *publish) write(t *tx.Tx, latest uint32) error {
	now, version := t.Now(), uint32(p.def.Version)
	rows, err := t.Queries().InsertVersion(p.ctx, db.InsertVersionParams{
		NamespaceID: t.Namespace(), ApplicationID: p.who.Application, Name: []byte(p.def.Name), Version: version,
		Digest: p.def.Digest[:], Document: p.document, PublishedBy: p.who.Credential, CreatedAt: now,
	})
	if err := tx.Affected(rows, err)(1); err != nil {
		return err
	}
	rows, err = t.Queries().UpdateDefinition(p.ctx, db.UpdateDefinitionParams{
		LatestVersion: max(latest, version), UpdatedAt: now, NamespaceID: t.Namespace(), ApplicationID: p.who.Application, Name: []byte(p.def.Name),
	})
	if err := tx.Affected(rows, err)(1); err != nil {
		return err
	}
	p.out = Publication{Receipt: p.receipt(p.def.Digest, now)}
	if err := p.remember(t, now); err != nil {
		return err
	}
	return InsertAudits(p.ctx, t, now, []pulse.AuditWrite{{
		Application: p.who.Application, Actor: engine.CredentialText(p.who.Credential), Action: "workflow.published",
		Subject: fmt.Sprintf("%s@%d", p.def.Name, version), Detail: string(p.out.Receipt),
	}})
}

// remember keeps the receipt of a key; without a key the version itself is the receipt.
func (p *publish) remember(t *tx.Tx, now time.Time) error {
	if p.key == "" {
		return nil
	}
	return InsertReceipts(p.ctx, t, &pulse.Snapshot{Now: now}, []pulse.ReceiptWrite{{
		Key: p.receiptKey(), Receipt: pulse.Receipt{Digest: p.def.Digest, Subject: NewID(), Body: p.out.Receipt},
	}})
}
