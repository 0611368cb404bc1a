package tx_test

import (
	"testing"
	"time"

	"github.com/orbitrun/orbit/api/dbtest"
	"github.com/orbitrun/orbit/api/tx"
)

// A moved clock moves what is read and written by it, on the same connection, and nothing else.
func TestAMovedClock(t *testing.T) {
	d := dbtest.New(t)
	var kept time.Duration
	shift := &tx.Shift{Keep: func(by time.Duration) error { kept = by; return nil }}
	reader, err := tx.OpenShiftedReader(d.DSN(), 1, shift)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	before, err := tx.ServerTime(t.Context(), reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := shift.Advance(36 * time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := shift.Advance(-time.Hour); err != nil { // never back
		t.Fatal(err)
	}
	after, err := tx.ServerTime(t.Context(), reader)
	if err != nil {
		t.Fatal(err)
	}
	if moved := after.Sub(before); moved < 36*time.Hour || moved > 36*time.Hour+time.Minute || kept != 36*time.Hour || shift.By() != kept {
		t.Errorf("moved by %v, kept %v", moved, kept)
	}
	var text string
	if err := reader.QueryRowContext(t.Context(), "SELECT CONCAT(?, DATE(SYSDATE(6)) > DATE(UTC_TIMESTAMP(6)))", "NOW(6) ").Scan(&text); err != nil || text != "NOW(6) 1" {
		t.Errorf("%q %v: an argument is no clock", text, err)
	}
}
