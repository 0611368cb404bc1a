package exact

import (
	"crypto/sha256"
	"hash"
	"slices"
	"strings"
)

// digestPrefix names the encoding, so that another one can never be mistaken
// for it.
const digestPrefix = "orbit-structure-1\x00"

// Digest is the structural digest of definition.md section 5: SHA-256 over an
// injective encoding in which member order and white space do not show and
// number tokens stand as written.
//
//	n | t | f | #<len>:<token> | "<len>:<utf8> | [<count>: … | {<count>: key value …
//
// A key is encoded like a string; keys are sorted by their UTF-8 bytes.
func (v Value) Digest() [32]byte {
	d := digester{hash: sha256.New()}
	d.buffer = append(d.buffer, digestPrefix...)
	d.value(v)
	d.flush()
	return [32]byte(d.hash.Sum(nil))
}

// digester gathers small pieces before hashing them.
type digester struct {
	hash   hash.Hash
	buffer []byte
}

func (d *digester) value(v Value) {
	switch v.kind {
	case KindNull:
		d.buffer = append(d.buffer, 'n')
	case KindBool:
		d.buffer = append(d.buffer, "ft"[truthIndex(v.truth)])
	case KindNumber:
		d.text('#', v.text)
	case KindString:
		d.text('"', v.text)
	case KindArray:
		d.count('[', v.Len())
		for _, item := range v.Items() {
			d.value(item)
		}
	default:
		d.count('{', v.Len())
		for _, m := range sorted(v.Members()) {
			d.text('"', m.Name)
			d.value(m.Value)
		}
	}
}

func (d *digester) count(mark byte, n int) {
	d.buffer = appendCount(d.buffer, mark, n)
}

func (d *digester) text(mark byte, s string) {
	d.count(mark, len(s))
	d.buffer = append(d.buffer, s...)
	if len(d.buffer) >= 4096 {
		d.flush()
	}
}

func (d *digester) flush() {
	d.hash.Write(d.buffer)
	d.buffer = d.buffer[:0]
}

func sorted(members []Member) []Member {
	if slices.IsSortedFunc(members, byName) {
		return members
	}
	out := slices.Clone(members)
	slices.SortFunc(out, byName)
	return out
}

func byName(a, b Member) int { return strings.Compare(a.Name, b.Name) }

func truthIndex(b bool) int {
	if b {
		return 1
	}
	return 0
}
