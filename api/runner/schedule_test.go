package runner

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/cron"

	"github.com/orbitrun/orbit/api/store"
)

var everything = cron.Policy{Overlap: cron.OverlapAllow, Misfire: cron.MisfireSkip, CatchUp: time.Hour}

// Two nodes, 200 schedules, and connections that die all the time, also in the middle of a COMMIT: every slot has
// exactly one task, none is lost (T3, C41).
func TestTwoRunnersFireEverySlotOnce(t *testing.T) {
	w := newWorld(t)
	const schedules, every = 200, 2 * time.Second
	for i := range schedules {
		w.put(named(i), w.every(every, everything))
	}
	a, b := w.runner(), w.runner()
	stop := running(t.Context(), a, b)
	kills := 0
	for began := time.Now(); time.Since(began) < 8*time.Second; time.Sleep(150 * time.Millisecond) {
		kills += w.killConnections()
	}
	stop()
	last := w.runner() // a third node finds what the others left
	for w.count("SELECT COUNT(*) FROM schedule WHERE due_at <= NOW(6)") > 0 {
		w.look(last)
	}
	w.consistent()
	slots := 0
	for i := range schedules {
		slots += w.gapless(named(i), every)
		if text := w.tell(named(i)); strings.Trim(text, "F") != "" {
			t.Errorf("%s: %s", named(i), text)
		}
	}
	tasks := w.count("SELECT COUNT(*) FROM task")
	if tasks != slots || slots < 3*schedules || kills == 0 {
		t.Errorf("%d slots, %d tasks, %d connections killed", slots, tasks, kills)
	}
	t.Logf("%d slots of %d schedules fired once by two runners, %d connections killed", slots, schedules, kills)
}

// killConnections kills one random connection of the database that is not the asking one.
func (w *world) killConnections() int {
	w.Helper()
	var id uint64
	// MySQL's view of the standard schema fails on statements with binary parameters; MariaDB has no other.
	list := "SELECT processlist_id FROM performance_schema.threads WHERE processlist_db = DATABASE() AND processlist_id <> CONNECTION_ID()"
	if w.count("SELECT VERSION() LIKE '%MariaDB%'") == 1 {
		list = "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()"
	}
	err := w.db.QueryRowContext(w.Context(), list+" ORDER BY RAND() LIMIT 1").Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0
	}
	must(w, err)
	_, err = w.db.ExecContext(w.Context(), "KILL ?", id)
	if err != nil && !strings.Contains(err.Error(), "Unknown thread") {
		w.Fatal(err)
	}
	return 1
}

// Nobody scanned for five and a half minutes; a slot a minute (C40).
func TestDowntimeByMisfirePolicy(t *testing.T) {
	for name, c := range map[string]struct {
		policy cron.Policy
		want   string
	}{
		"all inside the window":    {everything, "FFFFF"},
		"skip":                     {cron.Policy{Overlap: cron.OverlapAllow, Misfire: cron.MisfireSkip, CatchUp: 100 * time.Second}, "MMM"},
		"fire once into the next":  {cron.Policy{Overlap: cron.OverlapAllow, Misfire: cron.MisfireFireOnce, CatchUp: 100 * time.Second}, "mmm"},
		"fire once, all too late":  {cron.Policy{Overlap: cron.OverlapAllow, Misfire: cron.MisfireFireOnce, CatchUp: 10 * time.Second}, "mmmmF"},
		"overlap skips what piles": {cron.Policy{Overlap: cron.OverlapSkip, Misfire: cron.MisfireSkip, CatchUp: time.Hour}, "FOOOO"},
		"overlap queues one":       {cron.Policy{Overlap: cron.OverlapQueueOne, Misfire: cron.MisfireSkip, CatchUp: time.Hour}, "Fmmm"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			// Slots stand half a minute off now, so that a slow test meets no sixth one.
			spec := w.every(time.Minute, c.policy)
			spec.AnchorAt = w.clock().Add(-24*time.Hour - 30*time.Second).Truncate(time.Microsecond)
			w.put("s", spec)
			w.absent("s", w.clock().Add(-5*time.Minute), spec)
			w.look(w.runner())
			got := w.tell("s")
			if c.want == "MMM" || c.want == "mmm" { // 30, 90 s late are in time; 150, 210, 270 s are not
				c.want += "FF"
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			w.consistent()
			for _, r := range w.triggers("s") {
				if r.Outcome == uint8(cron.Merged) && (r.MergedInto == nil || !r.MergedInto.After(r.PlannedAt) && c.policy.Overlap != cron.OverlapQueueOne) {
					t.Errorf("merged into %v", r.MergedInto)
				}
			}
		})
	}
}

// QUEUE_ONE through the life of real tasks: the one that waits starts when the one before it has ended, once.
func TestOverlapQueueOneRunsOneAfterTheOther(t *testing.T) {
	w := newWorld(t)
	spec := w.every(time.Minute, cron.Policy{Overlap: cron.OverlapQueueOne, Misfire: cron.MisfireSkip, CatchUp: time.Hour})
	spec.AnchorAt = w.clock().Add(-24*time.Hour - 30*time.Second).Truncate(time.Microsecond)
	w.put("s", spec)
	w.absent("s", w.clock().Add(-5*time.Minute), spec)
	a, b := w.runner(), w.runner()
	for range 3 {
		w.look(a)
		w.look(b)
	}
	if h := w.head("s"); w.tell("s") != "Fmmm" || h.WaitingAt == nil || h.WaitingVersion != 1 {
		t.Fatalf("%s, waiting %v", w.tell("s"), h.WaitingAt)
	}
	waiting := *w.head("s").WaitingAt
	// A new version while one waits: the waiting one keeps its version (T12).
	next := w.every(time.Hour, everything)
	w.put("s", next)
	w.end()
	for range 3 {
		w.look(a)
		w.look(b)
	}
	rows := w.triggers("s")
	if w.tell("s") != "FFmmm" || rows[1].Version != 1 || !rows[1].PlannedAt.Equal(waiting) || w.head("s").WaitingAt != nil {
		t.Errorf("%s, %+v", w.tell("s"), rows[1])
	}
	if n := w.count("SELECT COUNT(*) FROM open_task"); n != 1 {
		t.Error(n, "tasks are open")
	}
	w.consistent()
}

// Slots that came before a change keep the version that was in force when they came, however late they are decided.
func TestOldSlotsKeepTheirVersion(t *testing.T) {
	w := newWorld(t)
	first := w.every(time.Minute, everything)
	first.AnchorAt = w.clock().Add(-24*time.Hour - 30*time.Second).Truncate(time.Microsecond)
	w.put("s", first)
	w.absent("s", w.clock().Add(-5*time.Minute), first)
	second := *first
	second.Task.Handler = "other"
	w.put("s", &second) // nobody has decided the five slots yet
	h := w.head("s")
	if h.Version != 2 || h.PlanVersion != 1 {
		t.Fatalf("version %d, planning %d", h.Version, h.PlanVersion)
	}
	// Two slots of the second version come before anybody looks.
	w.exec("UPDATE schedule_version SET effective_from = effective_from - INTERVAL 120 SECOND WHERE version = 2")
	r := w.runner()
	for range 3 {
		w.look(r)
	}
	versions := ""
	for _, row := range w.triggers("s") {
		versions += string('0' + rune(row.Version))
	}
	if versions != "11122" || w.head("s").PlanVersion != 2 {
		t.Errorf("versions %s, planning %d", versions, w.head("s").PlanVersion)
	}
	if n := w.count("SELECT COUNT(*) FROM task k JOIN schedule_trigger t ON t.trigger_id = k.owner_id WHERE (t.version = 2) <> (k.handler = 'other')"); n != 0 {
		t.Error(n, "tasks of another version's template")
	}
	w.consistent()
}

// Nothing fires while paused, every slot leaves its record, and what came during the pause does not fire afterwards.
func TestPauseSkipsVisibly(t *testing.T) {
	w := newWorld(t)
	spec := w.every(time.Minute, everything)
	spec.AnchorAt = w.clock().Add(-24*time.Hour - 30*time.Second).Truncate(time.Microsecond)
	w.put("s", spec)
	must(t, store.PauseSchedule(t.Context(), w.writer, w.command("s"), true))
	w.absent("s", w.clock().Add(-3*time.Minute), spec)
	r := w.runner()
	w.look(r)
	if got := w.tell("s"); got != "PPP" {
		t.Error(got)
	}
	// Nobody looks for a while, then the schedule is resumed: the pause counts, not when it was looked at.
	w.exec("DELETE FROM schedule_trigger")
	w.absent("s", w.clock().Add(-3*time.Minute), spec)
	must(t, store.PauseSchedule(t.Context(), w.writer, w.command("s"), false))
	w.look(r)
	if got := w.tell("s"); got != "PPP" {
		t.Error("after resume:", got)
	}
	if n := w.count("SELECT COUNT(*) FROM task"); n != 0 {
		t.Error(n, "tasks")
	}
}

// A node whose clock is ten minutes off, either way: nothing early, nothing twice; the offset is measured (T13).
func TestNodeClockDecidesNothing(t *testing.T) {
	w := newWorld(t)
	spec := w.every(time.Hour, everything)
	spec.AnchorAt = w.clock().Add(5 * time.Minute).Truncate(time.Microsecond)
	w.put("s", spec)
	ahead, behind := w.runner(), w.runner()
	ahead.offset += 10 * time.Minute
	behind.offset -= 10 * time.Minute
	for range 3 {
		w.look(ahead)
		w.look(behind)
	}
	if got := w.tell("s"); got != "" {
		t.Fatal("fired early:", got)
	}
	w.absent("s", w.clock().Add(-55*time.Minute), &store.ScheduleSpec{Kind: store.ScheduleInterval, EveryMS: 3_600_000, AnchorAt: w.clock().Add(-time.Second)})
	w.look(behind) // believes that the slot has not come
	w.look(ahead)
	w.look(ahead)
	behind.measure(t.Context())
	w.look(behind)
	if got := w.tell("s"); got != "F" {
		t.Error(got)
	}
	w.consistent()
}

// A full queue holds a slot back inside its window, and makes it a missed one after it.
func TestFullQueueHoldsBackThenMisses(t *testing.T) {
	w := newWorld(t)
	spec := w.every(time.Minute, cron.Policy{Overlap: cron.OverlapAllow, Misfire: cron.MisfireSkip, CatchUp: 100 * time.Second})
	spec.AnchorAt = w.clock().Add(-24*time.Hour - 30*time.Second).Truncate(time.Microsecond)
	w.put("s", spec)
	w.absent("s", w.clock().Add(-3*time.Minute), spec)
	w.exec("UPDATE queue SET open_tasks_max = 0")
	r := w.runner()
	w.look(r)
	if h := w.head("s"); w.tell("s") != "M" || !h.DueAt.After(w.clock()) {
		t.Fatalf("%s, due %v", w.tell("s"), h.DueAt)
	}
	w.exec("UPDATE queue SET open_tasks_max = 10")
	w.exec("UPDATE schedule SET due_at = NOW(6) - INTERVAL 1 SECOND")
	w.look(r)
	if got := w.tell("s"); got != "MFF" {
		t.Error(got)
	}
	w.exec("UPDATE application SET status = 2")
	w.exec("UPDATE schedule SET next_at = next_at - INTERVAL 60 SECOND, due_at = NOW(6) - INTERVAL 1 SECOND")
	w.exec("DELETE FROM schedule_trigger WHERE planned_at > NOW(6) - INTERVAL 60 SECOND")
	w.look(r)
	if got := w.tell("s"); got != "MF" {
		t.Error("a disabled application:", got)
	}
}

// The two nights of 2026 in New York on real rows: one task each, and a record of what the clock took away (T12).
func TestDaylightSavingNightsOnRealRows(t *testing.T) {
	w := newWorld(t)
	spec := &store.ScheduleSpec{
		Kind: store.ScheduleCron, Expression: "30 1,2 7-9 3 *", Zone: "America/New_York", Task: w.template(),
		Policy: cron.Policy{Overlap: cron.OverlapAllow, Misfire: cron.MisfireSkip, CatchUp: store.CatchUpMax},
	}
	autumn := *spec
	autumn.Expression, autumn.Gap, autumn.Repeat = "30 1 1 11 *", cron.GapSkip, cron.RepeatBoth
	first := *spec
	first.Expression, first.Repeat = "30 1 1 11 *", cron.RepeatFirst
	at := func(text string) time.Time {
		out, err := time.Parse(time.RFC3339, text)
		must(t, err)
		return out
	}
	if w.clock().Before(at("2026-11-03T00:00:00Z")) || w.clock().After(at("2027-03-01T00:00:00Z")) {
		t.Log("the database's clock is outside the year around these nights; slots are bounded by the window all the same")
	}
	for _, c := range []struct {
		name  string
		spec  *store.ScheduleSpec
		since string
		slots string
		quiet string
	}{
		{"spring", spec, "2026-03-06T00:00:00Z", "07T06:30 07T07:30 08T06:30 08T07:00 09T05:30 09T06:30", "2026-03-08T02:30"},
		{"autumn both", &autumn, "2026-10-31T00:00:00Z", "01T05:30 01T06:30", ""},
		{"autumn first", &first, "2026-10-31T00:00:00Z", "01T05:30", "2026-11-01T01:30"},
	} {
		w.put(c.name, c.spec)
		w.absent(c.name, at(c.since), c.spec)
		w.exec("UPDATE schedule_version SET catch_up_window_ms = ?", (20 * 366 * 24 * time.Hour).Milliseconds())
		r := w.runner()
		w.look(r)
		w.look(r)
		// A new version closes the old one, and with it the records of its last nights.
		closing := *c.spec
		closing.Expression = "0 12 1 1 *"
		w.put(c.name, &closing)
		var slots []string
		quiet := ""
		for _, row := range w.triggers(c.name) {
			if row.PlannedAt.After(at("2026-11-30T00:00:00Z")) {
				continue
			}
			if row.Origin == uint8(store.OriginClock) {
				quiet += string(row.Reason)
			} else if row.Outcome == uint8(cron.Fired) {
				slots = append(slots, row.PlannedAt.Format("02T15:04"))
			}
		}
		if got := strings.Join(slots, " "); got != c.slots || quiet != c.quiet {
			t.Errorf("%s: %s, quiet %q\n  want %s, %q", c.name, got, quiet, c.slots, c.quiet)
		}
	}
	w.consistent()
}

// One schedule whose version cannot be read stops no other.
func TestABrokenScheduleStopsNoOther(t *testing.T) {
	w := newWorld(t)
	spec := w.every(time.Second, everything)
	for i := range 5 {
		w.put(named(i), spec)
	}
	broken := w.head(named(2)).ScheduleID
	w.exec("UPDATE schedule_version SET time_zone = 'Nowhere/None', kind = 1, every_ms = 0, expression = '* * * * *' WHERE schedule_id = ?", broken)
	w.exec("UPDATE schedule SET due_at = NOW(6) - INTERVAL 1 SECOND, next_at = FROM_UNIXTIME(UNIX_TIMESTAMP() - 2)")
	r := w.runner()
	v, err := r.look(t.Context(), w.ns)
	must(t, err)
	var refusal *engine.Refusal
	if err := r.schedules(t.Context(), v); !errors.As(err, &refusal) || refusal.Code != "time_zone_unknown" {
		t.Error(err)
	}
	for i := range 5 {
		if got := w.tell(named(i)); (i == 2) != (got == "") {
			t.Errorf("%s: %q", named(i), got)
		}
	}
}

// A runner whose context ends in the middle leaves nothing half done; the next one goes on.
func TestStoppedInTheMiddle(t *testing.T) {
	w := newWorld(t)
	spec := w.every(time.Second, everything)
	w.put("s", spec)
	w.absent("s", w.clock().Add(-20*time.Minute), spec) // 1200 slots, several transactions
	r := w.runner()
	for n := 0; w.head("s").NextAt.Before(w.clock().Add(-2 * time.Second)); n++ {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(10+n*15)*time.Millisecond)
		v, err := r.look(t.Context(), w.ns)
		must(t, err)
		_ = r.schedules(ctx, v) // cut anywhere
		cancel()
	}
	w.consistent()
	if n := w.gapless("s", time.Second); n < 1190 || strings.Trim(w.tell("s"), "F") != "" {
		t.Errorf("%d slots: %s", n, strings.ReplaceAll(w.tell("s"), "F", ""))
	}
}
