package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// drift recomputes every counter from the rows it counts.
func drift(ctx context.Context, db *sql.DB, complain func(string)) (int, error) {
	total := 0
	for name, query := range map[string]string{
		"application": `SELECT q.application_id, q.open_tasks - COUNT(o.task_id), q.running_attempts - COUNT(CASE WHEN o.state = 2 THEN 1 END),
			q.open_payload_bytes - COALESCE(SUM(o.input_bytes), 0)
			FROM quota q LEFT JOIN open_task o ON o.namespace_id = q.namespace_id AND o.application_id = q.application_id
			GROUP BY q.namespace_id, q.application_id, q.open_tasks, q.running_attempts, q.open_payload_bytes`,
		"queue": `SELECT q.queue_id, q.open_tasks - COUNT(o.task_id), q.running_attempts - COUNT(CASE WHEN o.state = 2 THEN 1 END), 0
			FROM queue q LEFT JOIN open_task o ON o.namespace_id = q.namespace_id AND o.queue_id = q.queue_id
			GROUP BY q.namespace_id, q.queue_id, q.open_tasks, q.running_attempts`,
	} {
		err := each(ctx, db, query, func(scan func(...any) error) error {
			var id uint64
			var open, running, payload int64
			if err := scan(&id, &open, &running, &payload); err != nil {
				return err
			}
			if open != 0 || running != 0 || payload != 0 {
				total++
				complain(fmt.Sprintf("%s %d counts %+d open, %+d running, %+d bytes too many", name, id, open, running, payload))
			}
			return nil
		})
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// stream recomputes the chain of every namespace and holds it against the tasks: no hole, no wrong link, one end for
// every ended task, and one review for every task that waits for one.
func stream(ctx context.Context, db *sql.DB, r *rows, complain func(string)) (int, error) {
	gaps := 0
	wrong := func(format string, args ...any) {
		gaps++
		complain("stream: " + fmt.Sprintf(format, args...))
	}
	last, previous, space := uint64(0), make([]byte, 32), uint64(0)
	ends, reviews := map[string]int{}, map[string]bool{}
	err := each(ctx, db, "SELECT namespace_id, seq, application_id, queue_id, task_id, state, state_version, hash FROM stream_entry ORDER BY namespace_id, seq",
		func(scan func(...any) error) error {
			var namespace, seq, application, queue uint64
			var id, hash []byte
			var state, version uint32
			if err := scan(&namespace, &seq, &application, &queue, &id, &state, &version, &hash); err != nil {
				return err
			}
			if namespace != space {
				last, previous, space = 0, make([]byte, 32), namespace
			}
			if seq != last+1 {
				wrong("after %d comes %d", last, seq)
			}
			if link := linked(previous, seq, application, queue, id, state, version); !bytes.Equal(link, hash) {
				wrong("entry %d is linked by %s, it should be %s", seq, hex.EncodeToString(hash), hex.EncodeToString(link))
			}
			last, previous = seq, hash
			if state == stateReview {
				reviews[publicID(id)] = true
			} else {
				ends[publicID(id)]++
			}
			return nil
		})
	if err != nil {
		return gaps, err
	}
	for id, t := range r.tasks {
		terminal := t.state == stateSucceeded || t.state == stateFailed || t.state == stateCancelled
		if n := ends[id]; terminal && n != 1 || !terminal && n != 0 {
			wrong("%s is in state %d and has %d ends", id, t.state, n)
		}
		if t.state == stateReview && !reviews[id] {
			wrong("%s waits for a person and was not announced", id)
		}
	}
	return gaps, nil
}

func linked(previous []byte, seq, application, queue uint64, id []byte, state, version uint32) []byte {
	h := sha256.New()
	h.Write(previous)
	for _, n := range []uint64{seq, application, queue} {
		h.Write(binary.BigEndian.AppendUint64(nil, n))
	}
	h.Write(id)
	h.Write([]byte{byte(state)})
	h.Write(binary.BigEndian.AppendUint32(nil, version))
	return h.Sum(nil)
}
