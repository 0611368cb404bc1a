package stream

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	orbit "github.com/orbitrun/orbit/sdk"
)

// ErrGap says that results are missing, changed or out of order. Nothing is acknowledged after it: a person must look.
var ErrGap = errors.New("stream: the results do not continue what came before")

// chain is what a consumer remembers to see gaps by itself.
type chain struct {
	epoch, last int64
	links       map[int64]string // of the entries seen last, by number
}

// linksMax bounds what is remembered; neighbours are at most one pull apart.
const linksMax = 1024

// check holds an answer against itself and against what came before.
func (c *chain) check(p *orbit.Pulled) error {
	if c.epoch != p.Epoch || len(c.links) > linksMax {
		c.links = map[int64]string{}
	}
	if c.epoch != p.Epoch {
		c.epoch, c.last = p.Epoch, 0
	}
	for i := range p.Items {
		if err := c.step(&p.Items[i], p); err != nil {
			return err
		}
	}
	return nil
}

func (c *chain) step(d *orbit.Delivery, p *orbit.Pulled) error {
	if d.PreviousHash != "" {
		want, err := Link(d)
		if err != nil {
			return err
		}
		if want != d.Hash {
			return fmt.Errorf("%w: the link of %d does not follow from its fields", ErrGap, d.Seq)
		}
	}
	if before := c.links[d.Seq-1]; before != "" && d.PreviousHash != before {
		return fmt.Errorf("%w: %d does not continue %d", ErrGap, d.Seq, d.Seq-1)
	}
	// What was seen or is settled needs no predecessor here; dead letters that come again are below both. Without order
	// the one before may be another consumer's.
	if known := max(c.last, p.SettledThrough); p.InOrder && d.Seq > known && d.PreviousSeq > known {
		return fmt.Errorf("%w: %d follows %d, which was never delivered here and is not settled", ErrGap, d.Seq, d.PreviousSeq)
	}
	c.links[d.Seq] = d.Hash
	c.last = max(c.last, d.Seq)
	return nil
}

// Link computes the link of a result from its fields and the link before it (api/openapi.yaml, Link). It equals Hash
// unless something was changed.
func Link(d *orbit.Delivery) (string, error) {
	before, err := hex.DecodeString(d.PreviousHash)
	if err != nil || len(before) != sha256.Size {
		return "", fmt.Errorf("%w: %d has no link before it", ErrGap, d.Seq)
	}
	state, ended := map[orbit.TaskState]byte{"SUCCEEDED": 2, "FAILED": 3, "CANCELLED": 4, "NEEDS_REVIEW": 5}[d.State]
	application, err1 := number(d.ApplicationID, "app_")
	queue, err2 := number(d.QueueID, "queue_")
	task, err3 := hex.DecodeString(strings.TrimPrefix(d.TaskID, "task_"))
	if err := errors.Join(err1, err2, err3); err != nil || !ended {
		return "", fmt.Errorf("%w: %d has fields of another form: %v", ErrGap, d.Seq, err)
	}
	b := binary.BigEndian.AppendUint64(before, uint64(d.Seq))
	b = binary.BigEndian.AppendUint64(b, application)
	b = binary.BigEndian.AppendUint64(b, queue)
	b = append(append(b, task...), state)
	sum := sha256.Sum256(binary.BigEndian.AppendUint32(b, uint32(d.StateVersion)))
	return hex.EncodeToString(sum[:]), nil
}

func number(text, prefix string) (uint64, error) {
	return strconv.ParseUint(strings.TrimPrefix(text, prefix), 16, 64)
}
