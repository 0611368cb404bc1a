package store

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
	_ "time/tzdata" // a node without a zone database of its own still knows every zone

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/cron"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
)

// ScheduleKind says how a schedule's slots are computed. The numbers are those of schedule_version.kind.
type ScheduleKind uint8

// Kinds of schedules (pulse.md Schedules).
const (
	ScheduleCron     ScheduleKind = 1
	ScheduleInterval ScheduleKind = 2
)

// ScheduleSpec is what one version of a schedule says. Task is the template: its Key, TaskID, Source and Owner are set
// when a slot fires.
type ScheduleSpec struct {
	Kind       ScheduleKind
	Expression string
	Zone       string
	EveryMS    int64
	AnchorAt   time.Time // zero: 1970-01-01, so that equal intervals fall together
	Gap        cron.Gap  // zero: the default of the expression
	Repeat     cron.Repeat
	Policy     cron.Policy
	Task       pulse.Submission
}

// Bounds of the catch-up window. Below the minimum an ordinary delay of a node would already be a misfire.
const (
	CatchUpMin = 10 * time.Second
	CatchUpMax = 366 * 24 * time.Hour
)

// Timing checks the timing, fills in its defaults and makes it. Refusals: request_invalid with the field.
func (s *ScheduleSpec) Timing() (cron.Timing, *engine.Refusal) {
	if s.Kind == ScheduleInterval {
		return s.interval()
	}
	if s.EveryMS != 0 || !s.AnchorAt.IsZero() {
		return nil, unfit("/timing/every_ms", "every_ms and anchor_at belong to kind INTERVAL")
	}
	expression, err := cron.ParseExpression(s.Expression)
	if err != nil {
		return nil, engine.Refuse("cron_invalid", err.Error()).At("/timing/expression")
	}
	zone, refusal := ScheduleZone(s.Zone)
	if refusal != nil {
		return nil, refusal
	}
	s.dstDefaults(expression.EveryHour())
	return cron.Cron{Expression: expression, Zone: zone, Gap: s.Gap, Repeat: s.Repeat}, nil
}

// dstDefaults: what runs every hour keeps its rhythm through both nights; what runs at an hour runs once a day.
func (s *ScheduleSpec) dstDefaults(everyHour bool) {
	gap, repeat := cron.GapFireAfter, cron.RepeatFirst
	if everyHour {
		gap, repeat = cron.GapSkip, cron.RepeatBoth
	}
	if s.Gap == 0 {
		s.Gap = gap
	}
	if s.Repeat == 0 {
		s.Repeat = repeat
	}
}

func (s *ScheduleSpec) interval() (cron.Timing, *engine.Refusal) {
	every := time.Duration(s.EveryMS) * time.Millisecond
	switch {
	case s.Expression != "" || s.Zone != "" || s.Gap > cron.GapSkip || s.Repeat == cron.RepeatFirst:
		return nil, unfit("/timing/expression", "expression, time_zone, dst_gap and dst_repeat belong to kind CRON")
	case every < cron.IntervalMin || every > cron.IntervalMax:
		return nil, unfit("/timing/every_ms", "every_ms is 1 s to 366 days")
	case !s.AnchorAt.IsZero() && (s.AnchorAt.Year() < 1970 || s.AnchorAt.Year() > 9000):
		return nil, unfit("/timing/anchor_at", "the anchor lies between the years 1970 and 9000")
	}
	if s.AnchorAt.IsZero() {
		s.AnchorAt = time.Unix(0, 0).UTC()
	}
	s.Gap, s.Repeat = cron.GapSkip, cron.RepeatBoth
	return cron.Interval{Every: every, Anchor: s.AnchorAt.UTC().Truncate(time.Microsecond)}, nil
}

// ScheduleZone finds an IANA zone. The node's own zone ("Local") and the empty name are refused: a schedule means the
// same on every node.
func ScheduleZone(name string) (*time.Location, *engine.Refusal) {
	if name == "" || name == "Local" {
		return nil, engine.Refuse("time_zone_unknown", "name an IANA time zone such as Europe/Berlin, or UTC").At("/timing/time_zone")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, engine.Refuse("time_zone_unknown", fmt.Sprintf("there is no IANA time zone %q", name)).At("/timing/time_zone")
	}
	return zone, nil
}

func unfit(pointer, detail string) *engine.Refusal {
	return engine.Refuse("request_invalid", detail).At(pointer)
}

// Check judges everything that needs no row.
func (s *ScheduleSpec) Check() (cron.Timing, *engine.Refusal) {
	timing, refusal := s.Timing()
	if refusal != nil {
		return nil, refusal
	}
	if s.Policy.CatchUp < CatchUpMin || s.Policy.CatchUp > CatchUpMax {
		return nil, unfit("/catch_up_window_ms", "catch_up_window_ms is 10 s to 366 days")
	}
	if s.Task.DelayMS != 0 {
		return nil, unfit("/task/delay_ms", "a schedule's task is due when its slot is; plan another time instead of delaying")
	}
	probe := s.Task
	probe.Key = "template" // a template has none
	if refusal := probe.Check(); refusal != nil {
		refusal.Field = "/task" + refusal.Field
		return nil, refusal
	}
	return timing, nil
}

// Digest is equal for equal definitions: putting the same one again makes no new version.
func (s *ScheduleSpec) Digest() [32]byte {
	task := s.Task.Digest()
	h := sha256.New()
	for _, part := range [][]byte{
		{byte(s.Kind), byte(s.Gap), byte(s.Repeat), byte(s.Policy.Overlap), byte(s.Policy.Misfire)}, []byte(s.Expression), []byte(s.Zone),
		binary.BigEndian.AppendUint64(nil, uint64(s.EveryMS)), binary.BigEndian.AppendUint64(nil, uint64(s.AnchorAt.UnixMicro())),
		binary.BigEndian.AppendUint64(nil, uint64(s.Policy.CatchUp)), task[:],
	} {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
		h.Write(part)
	}
	return [32]byte(h.Sum(nil))
}

// ReadSchedule makes a definition and its timing from a stored version.
func ReadSchedule(row *db.ScheduleVersion, application uint64) (*ScheduleSpec, cron.Timing, error) {
	retry, err := pulse.ParseRetry(row.RetryPolicy)
	if err != nil {
		return nil, nil, err
	}
	s := &ScheduleSpec{
		Kind: ScheduleKind(row.Kind), Expression: string(row.Expression), Zone: string(row.TimeZone), EveryMS: int64(row.EveryMs),
		Gap: cron.Gap(row.DstGap), Repeat: cron.Repeat(row.DstRepeat),
		Policy: cron.Policy{Overlap: cron.Overlap(row.Overlap), Misfire: cron.Misfire(row.Misfire), CatchUp: time.Duration(row.CatchUpWindowMs) * time.Millisecond},
		Task: pulse.Submission{
			Application: application, Queue: row.QueueID, Handler: string(row.Handler), HandlerVersion: string(row.HandlerVersion), Input: row.Input,
			BusinessKey: string(row.BusinessKey), ResourceKey: string(row.ResourceKey), Priority: row.Priority, DeadlineMS: int64(row.DeadlineMs),
			AttemptTimeoutMS: int64(row.AttemptTimeoutMs), Retry: retry, Lost: pulse.LostPolicy(row.LostPolicy), OutputContract: row.OutputContract,
			Source: pulse.SourceSchedule,
		},
	}
	if s.Kind == ScheduleInterval {
		s.AnchorAt = row.AnchorAt
	}
	timing, refusal := s.Timing()
	if refusal != nil {
		return nil, nil, fmt.Errorf("schedule %d version %d: %w", row.ScheduleID, row.Version, refusal)
	}
	return s, timing, nil
}

// versionRow is the row of a new version. anchor_at of a cron expression is the epoch and unused.
func versionRow(ns, schedule uint64, version uint32, s *ScheduleSpec, by uint64, now time.Time) db.InsertScheduleVersionParams {
	digest, t := s.Digest(), &s.Task
	anchor := s.AnchorAt
	if anchor.IsZero() {
		anchor = time.Unix(0, 0).UTC()
	}
	return db.InsertScheduleVersionParams{
		NamespaceID: ns, ScheduleID: schedule, Version: version, EffectiveFrom: now, Kind: uint8(s.Kind), Expression: []byte(s.Expression),
		TimeZone: []byte(s.Zone), EveryMs: uint64(s.EveryMS), AnchorAt: anchor, DstGap: uint8(s.Gap), DstRepeat: uint8(s.Repeat),
		Overlap: uint8(s.Policy.Overlap), Misfire: uint8(s.Policy.Misfire), CatchUpWindowMs: uint64(s.Policy.CatchUp.Milliseconds()),
		QueueID: t.Queue, Handler: []byte(t.Handler), HandlerVersion: []byte(t.HandlerVersion), Priority: t.Priority, DeadlineMs: uint64(t.DeadlineMS),
		AttemptTimeoutMs: uint64(t.AttemptTimeoutMS), RetryPolicy: t.Retry.Text(), LostPolicy: uint8(t.Lost), BusinessKey: Text(t.BusinessKey),
		ResourceKey: Text(t.ResourceKey), CreatedBy: by, CreatedAt: now, Digest: digest[:], OutputContract: t.OutputContract, Input: t.Input,
	}
}
