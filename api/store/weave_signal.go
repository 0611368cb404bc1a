package store

import (
	"encoding/json"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// signalSlack is how long after its end a signal that nobody awaited is looked at: accepted at the end still counts.
const signalSlack = time.Microsecond

// signals locks what was sent and not yet needed, and reads what the audit says about it.
func (l *weaveLoad) signals(place tx.AfterGates, graphs map[engine.ID]*weave.Graph, receivers [][]byte) error {
	rows, err := place.LockSignals(l.ctx, receivers)
	if err != nil {
		return err
	}
	evidence, err := l.evidence(rows)
	if err != nil {
		return err
	}
	for i := range rows {
		g := graphs[ID(rows[i].InstanceID)]
		s := signalOf(&rows[i])
		record, ok := evidence[s.Audit]
		s.Sealed = ok && record.Agrees(&s) && s.Digest == s.Seal(g.Instance.ID)
		g.Signals = append(g.Signals, s)
	}
	return l.signalCounts(graphs)
}

// evidence reads what was written down when the signals were accepted.
func (l *weaveLoad) evidence(rows []db.WeaveSignal) (map[engine.ID]weave.SignalEvidence, error) {
	out := map[engine.ID]weave.SignalEvidence{}
	if len(rows) == 0 {
		return out, nil
	}
	ids := make([]engine.ID, len(rows))
	for i := range rows {
		ids[i] = ID(rows[i].AuditID)
	}
	records, err := l.t.Queries().ListAuditDetails(l.ctx, db.ListAuditDetailsParams{NamespaceID: l.t.Namespace(), AuditIds: Bytes(ids)})
	for _, r := range records {
		var e weave.SignalEvidence
		if json.Unmarshal(r.Detail, &e) == nil {
			out[ID(r.AuditID)] = e
		}
	}
	return out, err
}

// signalCounts reads how many signals those instances have had that are asked to accept another.
func (l *weaveLoad) signalCounts(graphs map[engine.ID]*weave.Graph) error {
	var asked []engine.ID
	for _, r := range l.batch.Requests {
		if s, ok := r.(*weave.SignalRequest); ok && graphs[s.Instance] != nil {
			asked = append(asked, s.Instance)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	rows, err := l.t.Queries().ListSignalCounts(l.ctx, db.ListSignalCountsParams{NamespaceID: l.t.Namespace(), InstanceIds: Bytes(asked)})
	for _, r := range rows {
		graphs[ID(r.InstanceID)].SignalCount = int(r.Signals)
	}
	return err
}

func signalOf(r *db.WeaveSignal) weave.Signal {
	return weave.Signal{
		ID: ID(r.SignalID), Step: r.StepNo, ActivationNo: r.ActivationNo, Name: string(r.SignalName), Version: string(r.SignalVersion),
		Correlation: string(r.Correlation), Content: r.Content, AcceptedAt: r.AcceptedAt, ExpiresAt: r.ExpiresAt, Digest: [32]byte(r.Digest),
		Audit: ID(r.AuditID), State: weave.SignalState(r.State), Class: weave.SignalClass(r.Classification), SettledAt: Time(r.SettledAt),
	}
}

// sent writes new signals and the ends of others. A pending one is looked at when it expires, unless its step begins
// to wait before.
func (a *weaveApply) sent() error {
	return tx.Many(a.ctx, a.t, (*db.Queries).UpsertSignal, mapped(a.signals, func(s *of[weave.Signal]) db.UpsertSignalParams {
		r := &s.row
		return db.UpsertSignalParams{
			NamespaceID: a.ns, InstanceID: s.instance[:], SignalID: r.ID[:], StepNo: r.Step, ActivationNo: r.ActivationNo, SignalName: []byte(r.Name),
			SignalVersion: []byte(r.Version), Correlation: []byte(r.Correlation), State: uint8(r.State), Classification: Text(string(r.Class)),
			AvailableAt: r.ExpiresAt.Add(signalSlack), AcceptedAt: r.AcceptedAt, ExpiresAt: r.ExpiresAt, SettledAt: timeOrNull(r.SettledAt),
			Digest: r.Digest[:], AuditID: r.Audit[:], Content: r.Content,
		}
	}))
}
