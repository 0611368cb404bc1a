package exact

import (
	"encoding/json"
	"strings"
	"testing"
)

var benchText = []byte(`{"orders":[` + strings.TrimSuffix(strings.Repeat(`{"order_id":"o-123456","total":120.50,"lines":[{"sku":"a-1","quantity":2},{"sku":"b-2","quantity":1}],"note":null,"express":true},`, 400), ",") + `]}`)

func BenchmarkParse(b *testing.B) {
	b.SetBytes(int64(len(benchText)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(benchText, PayloadLimits); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStandard is the library everybody knows, for scale.
func BenchmarkStandard(b *testing.B) {
	b.SetBytes(int64(len(benchText)))
	b.ReportAllocs()
	for b.Loop() {
		var v any
		if err := json.Unmarshal(benchText, &v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDigest(b *testing.B) {
	v, err := Parse(benchText, PayloadLimits)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(benchText)))
	for b.Loop() {
		v.Digest()
	}
}
