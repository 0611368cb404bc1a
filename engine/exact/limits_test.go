package exact_test

import (
	"testing"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/weave/expr"
)

// The bounds of this package are written twice, because the packages below
// engine import nothing of it; they must not drift apart.
func TestPayloadLimitsAreThePlatforms(t *testing.T) {
	want := exact.Limits{SizeBytesMax: engine.PayloadBytesMax, DepthMax: engine.PayloadDepthMax}
	if exact.PayloadLimits != want {
		t.Errorf("%+v, the platform says %+v", exact.PayloadLimits, want)
	}
	if expr.ValueBytesMax != engine.PayloadBytesMax || expr.ValueDepthMax != engine.PayloadDepthMax {
		t.Error("a resolved value has other bounds than a payload")
	}
}
