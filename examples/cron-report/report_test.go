package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/orbitrun/orbit/orbittest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// nextChange is the next Sunday on which Berlin changes its clocks.
func nextChange(t *testing.T, after time.Time) time.Time {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	must(t, err)
	for day := after.In(berlin); ; day = day.AddDate(0, 0, 1) {
		_, before := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, berlin).Zone()
		if _, after := time.Date(day.Year(), day.Month(), day.Day()+1, 0, 0, 0, 0, berlin).Zone(); after != before {
			return time.Date(day.Year(), day.Month(), day.Day(), 6, 0, 0, 0, berlin)
		}
	}
}

// Two weeks around a change of the clocks: one report a day, at six by the clock on the wall, through kills and an outage.
func TestOneReportADay(t *testing.T) {
	const days = 14
	s := orbittest.New(t)
	s.Queue("reports")
	change := nextChange(t, s.Now().AddDate(0, 0, 10))
	first := change.AddDate(0, 0, -days/2)
	s.AdvanceTo(first.Add(-time.Hour))
	must(t, put(t.Context(), s.Client))
	folder, binary := t.TempDir(), filepath.Join(t.TempDir(), "cron-report")
	if said, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	hire := func() *exec.Cmd {
		cmd := exec.Command(binary, "work", "-url", s.URL, "-key", s.Key, "-folder", folder)
		must(t, cmd.Start())
		return cmd
	}
	w := hire()
	defer func() { _ = w.Process.Kill(); _ = w.Wait() }()
	for day := range days {
		slot := first.AddDate(0, 0, day)
		switch day {
		case days/2 + 2: // everything is down over this slot and the next
			s.KillAll()
			s.AdvanceStopped(48 * time.Hour)
			s.Start()
		case days/2 + 3:
		default:
			s.AdvanceTo(slot.Add(-time.Minute))
			if name := nameOf(t, slot); exists(folder, name) {
				t.Errorf("%s came before its time", name)
			}
			s.AdvanceTo(slot)
		}
		_ = w.Process.Kill() // it may have begun
		_ = w.Wait()
		w = hire()
		s.Advance(2 * time.Minute) // the lease of the one that was killed
		wait(t, folder, nameOf(t, slot))
	}
	files, err := filepath.Glob(filepath.Join(folder, "sales-*.json"))
	must(t, err)
	var hours []float64
	for _, file := range files {
		var r report
		text, err := os.ReadFile(file)
		must(t, err)
		must(t, json.Unmarshal(text, &r))
		hours = append(hours, r.Hours)
	}
	ordinary := 0
	for _, h := range hours {
		if h == 24 {
			ordinary++
		}
	}
	if len(files) != days || ordinary != days-1 {
		t.Errorf("%d reports over days of %v hours; one day has 23 or 25", len(files), hours)
	}
	t.Logf("%d days around %s: %d reports, hours %v", days, change.Format(time.DateOnly), len(files), hours)
}

func nameOf(t *testing.T, slot time.Time) string {
	t.Helper()
	r, err := reportOf("sales", slot)
	must(t, err)
	return "sales-" + r.Day + ".json"
}

func exists(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return err == nil
}

func wait(t *testing.T, folder, name string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !exists(folder, name); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("there is no %s", name)
		}
	}
}
