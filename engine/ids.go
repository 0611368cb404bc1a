package engine

import (
	"encoding/hex"
	"fmt"
)

// ID is a UUIDv7 made by the caller; the engine never invents one.
type ID [16]byte

// Zero reports whether the id is absent.
func (id ID) Zero() bool { return id == ID{} }

// Text renders the id as the API shows it: prefix, underscore, 32 lower-case hex digits.
func (id ID) Text(prefix string) string { return prefix + "_" + hex.EncodeToString(id[:]) }

// ParseID reads what Text wrote; any other spelling is refused, so one id has one text.
func ParseID(prefix, text string) (ID, bool) {
	var id ID
	if len(text) != len(prefix)+33 || text[:len(prefix)] != prefix || text[len(prefix)] != '_' {
		return id, false
	}
	return id, decodeLower(id[:], text[len(prefix)+1:])
}

func decodeLower(dst []byte, text string) bool {
	for _, c := range []byte(text) {
		if c >= 'A' && c <= 'F' {
			return false
		}
	}
	_, err := hex.Decode(dst, []byte(text))
	return err == nil
}

// CredentialText is a credential's number as the API, audits and histories show it.
func CredentialText(id uint64) string { return fmt.Sprintf("cred_%016x", id) }

// Less orders ids by bytes, which is the order of the database's binary keys.
func (id ID) Less(other ID) bool { return string(id[:]) < string(other[:]) }
