package lane

import (
	"time"

	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
)

// probe asks, without locks and at most every Options.Probe, whether another node has put something into a queue that
// a claim of this node waits for. What it finds is a hint; the claim decides under its locks.
func (l *Lane) probe() {
	if len(l.waiting) == 0 || time.Since(l.probed) < l.set.opt.Probe {
		return
	}
	l.probed = time.Now()
	ctx, cancel := l.context()
	defer cancel()
	asked := map[uint64]bool{}
	for _, it := range l.waiting {
		for i := range it.batch.Claims {
			for _, q := range it.batch.Claims[i].Queues {
				if asked[q] {
					continue
				}
				asked[q] = true
				_, err := db.New(l.set.reader).GetNextDue(ctx, db.GetNextDueParams{NamespaceID: l.namespace, QueueID: q, State: uint8(pulse.Queued)})
				if err == nil {
					l.mark(q)
				}
			}
		}
	}
}
