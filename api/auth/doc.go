// Package auth answers "who asks, and what may it do?".
//
// A key is a text: orb_<namespace><credential>_<secret><checksum>. The two ids make the look-up one row by primary
// key; the 256-bit secret is random, so its SHA-256 is all that needs to be stored and no slow hash is called for;
// the checksum lets a scanner or a typo be recognised without asking anybody. Only the credential's row decides:
// scopes, expiry, revocation. A node remembers a verdict for at most two seconds, so a revocation holds everywhere
// well within five; every transaction judges again under its own shared lock.
package auth
