package auth

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/orbitrun/orbit/engine"
)

// NewID is a random 63-bit id, never zero.
func NewID() uint64 {
	var b [8]byte
	for {
		_, _ = rand.Read(b[:])
		if id := binary.BigEndian.Uint64(b[:]) >> 1; id != 0 {
			return id
		}
	}
}

// NamespaceText, ApplicationText, CredentialText and QueueText are ids as the API shows them.
func NamespaceText(id uint64) string { return fmt.Sprintf("ns_%016x", id) }

// ApplicationText: see NamespaceText.
func ApplicationText(id uint64) string { return fmt.Sprintf("app_%016x", id) }

// CredentialText: see NamespaceText.
func CredentialText(id uint64) string { return engine.CredentialText(id) }

// QueueText: see NamespaceText.
func QueueText(id uint64) string { return fmt.Sprintf("queue_%016x", id) }

// ParseID reads what one of these wrote, with the given prefix.
func ParseID(prefix, text string) (uint64, bool) {
	rest, ok := strings.CutPrefix(text, prefix+"_")
	if !ok {
		return 0, false
	}
	return ParseHex(rest)
}
