package store

import (
	"context"
	"encoding/binary"
	"strings"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/stream"
	"github.com/orbitrun/orbit/gen/db"
)

// Subscription reads a row.
func Subscription(r *db.Subscription) stream.Subscription {
	s := stream.Subscription{
		ID: r.SubscriptionID, Application: r.ApplicationID, Queues: QueueIDs(r.QueueIds), States: stream.States(r.States), Handlers: HandlerNames(r.Handlers), InOrder: r.InOrder == 1, Paused: r.Paused == 1,
		Window: int(r.WindowMax), AckTimeout: time.Duration(r.AckTimeoutMs) * time.Millisecond, Generations: int(r.GenerationsMax),
		Position: stream.Position{Epoch: r.Epoch, Next: r.NextSeq, Anchored: r.LastHash != nil, Last: r.LastSeq, Selected: r.SelectedCount},
		Pending:  r.PendingCount, Dead: r.DeadCount, Secret: [32]byte(r.Secret), Version: r.Version,
	}
	copy(s.Hash[:], r.LastHash)
	return s
}

// QueueIDs unpacks a selection.
func QueueIDs(packed []byte) []uint64 {
	var out []uint64
	for ; len(packed) >= 8; packed = packed[8:] {
		out = append(out, binary.BigEndian.Uint64(packed))
	}
	return out
}

// PackQueueIDs packs a sorted selection; never nil, which would be NULL.
func PackQueueIDs(ids []uint64) []byte {
	out := make([]byte, 0, 8*len(ids))
	for _, id := range ids {
		out = binary.BigEndian.AppendUint64(out, id)
	}
	return out
}

// HandlerNames unpacks a selection of handlers.
func HandlerNames(packed []byte) []string {
	if len(packed) == 0 {
		return nil
	}
	return strings.Split(string(packed), "\n")
}

// PackHandlers packs a sorted selection of names, none of which has a line feed; never nil, which would be NULL.
func PackHandlers(names []string) []byte { return []byte(strings.Join(names, "\n")) }

// ReadHandlers asks for the handlers that a subscription needs to know.
func ReadHandlers(ctx context.Context, q *db.Queries, namespace uint64, s *stream.Subscription, entries []stream.Entry) error {
	var ids [][]byte
	for i := range entries {
		if s.AsksHandler(&entries[i]) {
			ids = append(ids, entries[i].Task[:])
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := q.ListTaskHandlers(ctx, db.ListTaskHandlersParams{NamespaceID: namespace, TaskIds: ids})
	if err != nil {
		return err
	}
	handlers := map[engine.ID]string{}
	for _, r := range rows {
		handlers[engine.ID(r.TaskID)] = string(r.Handler)
	}
	for i := range entries {
		entries[i].Handler = handlers[entries[i].Task]
	}
	return nil
}

// linkOrNull is the link of a position; NULL when it is not known.
func linkOrNull(p *stream.Position) []byte {
	if !p.Anchored {
		return nil
	}
	return p.Hash[:]
}

// Deliveries reads delivery rows.
func Deliveries(rows []db.LockDeliveriesRow) []stream.Delivery {
	return mapped(rows, func(r *db.LockDeliveriesRow) stream.Delivery {
		return stream.Delivery{Seq: r.Seq, Previous: r.PreviousSeq, Generation: r.Generation, Tries: int(r.Tries), Holder: r.Holder, DueAt: r.DueAt}
	})
}

// DeadLetters reads rows of dead letters.
func DeadLetters(rows []db.LockDeadLettersRow) []stream.Delivery {
	return mapped(rows, func(r *db.LockDeadLettersRow) stream.Delivery {
		return stream.Delivery{Seq: r.Seq, Previous: r.PreviousSeq, Generation: r.Generation, DueAt: r.DeadAt, Dead: true}
	})
}

// StreamEntries reads entries.
func StreamEntries(rows []db.ListStreamRangeRow) []stream.Entry {
	return mapped(rows, func(r *db.ListStreamRangeRow) stream.Entry {
		return stream.Entry{
			Seq: r.Seq, Application: r.ApplicationID, Queue: r.QueueID, Task: engine.ID(r.TaskID), State: r.State, Version: r.StateVersion, Hash: [32]byte(r.Hash),
		}
	})
}
