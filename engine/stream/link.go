package stream

import (
	"crypto/sha256"
	"encoding/binary"
)

// Link binds an entry to everything before it: SHA-256 over the link before and the entry's fields, numbers big-endian.
// It is what the writers of the stream compute; consumers compute it again, offline, and so see a missing, repeated or
// reordered entry.
func Link(previous [32]byte, e *Entry) [32]byte {
	b := append([]byte{}, previous[:]...)
	b = binary.BigEndian.AppendUint64(b, e.Seq)
	b = binary.BigEndian.AppendUint64(b, e.Application)
	b = binary.BigEndian.AppendUint64(b, e.Queue)
	b = append(b, e.Task[:]...)
	b = append(b, e.State)
	return sha256.Sum256(binary.BigEndian.AppendUint32(b, e.Version))
}
