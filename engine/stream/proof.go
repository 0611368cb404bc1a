package stream

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Proof is what a consumer shows to acknowledge: 32 hex digits, not guessable, and good for one generation only.
func (s *Subscription) Proof(seq uint64, generation uint32) string {
	mac := hmac.New(sha256.New, s.Secret[:])
	b := binary.BigEndian.AppendUint32(nil, s.Epoch)
	b = binary.BigEndian.AppendUint64(b, seq)
	mac.Write(binary.BigEndian.AppendUint32(b, generation))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// Proves reports whether the proof was handed out for this number and generation in the present epoch.
func (s *Subscription) Proves(c Claim) bool {
	return c.Seq != 0 && c.Seq < s.Next && hmac.Equal([]byte(c.Proof), []byte(s.Proof(c.Seq, c.Generation)))
}

// Holder turns a consumer's name into the number that stands in the row; never zero.
func Holder(consumer string) uint64 {
	sum := sha256.Sum256([]byte(consumer))
	return max(binary.BigEndian.Uint64(sum[:8]), 1)
}
