package definition

import (
	"errors"
	"fmt"

	"github.com/orbitrun/orbit/engine/exact"
)

// ErrDigest reports a stored text that is not what was accepted.
var ErrDigest = errors.New("definition: stored text does not have the recorded digest")

// Load rebuilds a stored version. It verifies the digest and then only reads:
// an accepted document keeps its meaning forever, so nothing about it is
// judged again by the rules of a later release (definition.md §9).
func Load(text []byte, digest [32]byte) (*Definition, error) {
	value, bad := exact.Parse(text, exact.PayloadLimits)
	if bad != nil {
		return nil, fmt.Errorf("%w: %v", ErrDigest, bad)
	}
	if value.Digest() != digest {
		return nil, ErrDigest
	}
	b := &builder{}
	d := b.document(value)
	d.Digest = digest
	for _, k := range d.Contracts {
		if k.Schema == nil {
			return nil, fmt.Errorf("definition: contract %s of a stored version: %s", k.Name, k.problems[0].Detail)
		}
	}
	for _, s := range b.sites {
		if s.template.Template == nil {
			return nil, fmt.Errorf("definition: template %s of a stored version: %s", s.template.Pointer, s.template.problems[0].Detail)
		}
	}
	return d, nil
}
