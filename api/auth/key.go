package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// Key is a key in its parts. Secret never leaves the process except in Text, once, at issue.
type Key struct {
	Namespace, Credential uint64
	Secret                [32]byte
}

const (
	keyPrefix    = "orb_"
	secretChars  = 43 // base64url of 32 bytes without padding
	checkChars   = 6
	keyTextBytes = len(keyPrefix) + 32 + 1 + secretChars + checkChars
	base62       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Mint makes a key with a new random secret. crypto/rand does not fail; it ends the process instead.
func Mint(namespace, credential uint64) Key {
	k := Key{Namespace: namespace, Credential: credential}
	_, _ = rand.Read(k.Secret[:])
	return k
}

// Text is what the caller puts behind "Bearer ".
func (k Key) Text() string {
	body := fmt.Sprintf("%s%016x%016x_%s", keyPrefix, k.Namespace, k.Credential, base64.RawURLEncoding.EncodeToString(k.Secret[:]))
	return body + checksum(body)
}

// String hides the secret, so that a key that slips into a log betrays nothing.
func (k Key) String() string {
	return fmt.Sprintf("%s%016x%016x_(secret)", keyPrefix, k.Namespace, k.Credential)
}

// MarshalText keeps the secret out of structured logs.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// GoString keeps it out of %#v.
func (k Key) GoString() string { return k.String() }

// Hash is what is stored.
func (k Key) Hash() [32]byte { return sha256.Sum256(k.Secret[:]) }

// Matches compares with a stored hash in constant time.
func (k Key) Matches(stored []byte) bool {
	hash := k.Hash()
	return subtle.ConstantTimeCompare(hash[:], stored) == 1
}

// Parse reads a key. It reports false for anything Text did not write, the checksum included.
func Parse(text string) (Key, bool) {
	var k Key
	if len(text) != keyTextBytes || !strings.HasPrefix(text, keyPrefix) {
		return k, false
	}
	body, check := text[:keyTextBytes-checkChars], text[keyTextBytes-checkChars:]
	if subtle.ConstantTimeCompare([]byte(checksum(body)), []byte(check)) != 1 {
		return k, false
	}
	ids := body[len(keyPrefix):]
	var ok1, ok2 bool
	k.Namespace, ok1 = ParseHex(ids[:16])
	k.Credential, ok2 = ParseHex(ids[16:32])
	if !ok1 || !ok2 || ids[32] != '_' {
		return Key{}, false
	}
	n, err := base64.RawURLEncoding.Strict().Decode(k.Secret[:], []byte(ids[33:]))
	return k, err == nil && n == len(k.Secret)
}

// ParseHex reads a 63-bit id of 16 lower-case hex digits; one id has one text.
func ParseHex(text string) (uint64, bool) {
	if len(text) != 16 || strings.ToLower(text) != text {
		return 0, false
	}
	id, err := strconv.ParseUint(text, 16, 63)
	return id, err == nil
}

// checksum is CRC-32 in six digits of base 62.
func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	var out [checkChars]byte
	for i := checkChars - 1; i >= 0; i-- {
		out[i] = base62[sum%62]
		sum /= 62
	}
	return string(out[:])
}
