package api

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine"
)

// binding ties a cursor to one list of one caller with one set of filters. A cursor that was given with others is
// refused; no error ever falls back to a wider list (pulse.md List).
type binding [12]byte

const cursorVersion = 2

// bind makes the binding of a list. Filters are length-prefixed, so no two sets of them look alike.
func bind(c auth.Caller, list string, filters ...string) binding {
	h := sha256.New()
	var n [8]byte
	for _, id := range []uint64{c.Namespace, c.Application} {
		binary.BigEndian.PutUint64(n[:], id)
		h.Write(n[:])
	}
	for _, part := range append([]string{list}, filters...) {
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	return binding(h.Sum(nil))
}

// write makes the cursor of a position.
func (b binding) write(position []byte) string {
	text := append([]byte{cursorVersion}, b[:]...)
	return base64.RawURLEncoding.EncodeToString(append(text, position...))
}

// read gives the position of a cursor; nil without one. Errors: cursor_invalid.
func (b binding) read(cursor *string) ([]byte, error) {
	if cursor == nil {
		return nil, nil
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(*cursor)
	if err != nil || len(text) < 1+len(b) || text[0] != cursorVersion || binding(text[1:]) != b {
		return nil, cursorInvalid()
	}
	return text[1+len(b):], nil
}

func cursorInvalid() *problem.Problem {
	return problem.FromFaults([]problem.Fault{{Code: "cursor_invalid", In: "query", Pointer: "cursor",
		Detail: "use the next_cursor of the page before, with the same filters, or begin again without"}})
}

// readName is the position in lists by name: before every name without a cursor. It is never nil, because nil is NULL
// to the database and nothing is greater than NULL.
func (b binding) readName(cursor *string) ([]byte, error) {
	position, err := b.read(cursor)
	return append([]byte{}, position...), err
}

// moment is a position in lists by time: creation time and id.
type moment struct {
	at time.Time
	id engine.ID
}

func (m moment) bytes() []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(m.at.UnixMicro())), m.id[:]...)
}

// readMoment is the position after which a list by time goes on; before everything without a cursor.
func (b binding) readMoment(cursor *string) (moment, error) {
	position, err := b.read(cursor)
	if err != nil || position == nil {
		return moment{at: time.Unix(0, 0).UTC()}, err
	}
	if len(position) != 24 {
		return moment{}, cursorInvalid()
	}
	at := time.UnixMicro(int64(binary.BigEndian.Uint64(position))).UTC()
	return moment{at, engine.ID(position[8:])}, nil
}

// readNumber is the position in lists by number; first without a cursor.
func (b binding) readNumber(cursor *string, first uint64) (uint64, error) {
	position, err := b.read(cursor)
	if err != nil || position == nil {
		return first, err
	}
	if len(position) != 8 {
		return 0, cursorInvalid()
	}
	return binary.BigEndian.Uint64(position), nil
}

func (b binding) writeNumber(n uint64) string { return b.write(binary.BigEndian.AppendUint64(nil, n)) }

// page size of a list when the request names none.
const limitDefault = 50

func limitOf(limit *int32) int32 {
	if limit == nil {
		return limitDefault
	}
	return *limit
}

// cut takes the extra row that tells whether there is more off a page that was read with limit + 1.
func cut[R any](rows []R, limit int32) (page []R, more bool) {
	if len(rows) > int(limit) {
		return rows[:limit], true
	}
	return rows, false
}
