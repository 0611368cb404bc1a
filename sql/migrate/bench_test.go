package migrate_test

import (
	"testing"

	orbitsql "github.com/orbitrun/orbit/sql"
	"github.com/orbitrun/orbit/sql/migrate"
)

// What a node pays at every start for not running on a foreign schema.
func BenchmarkCheck(b *testing.B) {
	source, err := migrate.Embedded(orbitsql.Files)
	if err != nil {
		b.Fatal(err)
	}
	config, db := newDatabase(b)
	if _, err := source.Apply(background, config, migrate.ApplyOptions{}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := migrate.Check(background, db); err != nil {
			b.Fatal(err)
		}
	}
}
