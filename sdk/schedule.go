package orbit

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// Timing says when the slots of a schedule come. Make it with Cron, Every or EveryFrom.
type Timing struct {
	Kind       string     `json:"kind"` // CRON or INTERVAL
	Expression string     `json:"expression,omitempty"`
	TimeZone   string     `json:"time_zone,omitempty"`
	DSTGap     string     `json:"dst_gap,omitempty"`    // SKIP or FIRE_AFTER_GAP; empty: the server's default for the expression
	DSTRepeat  string     `json:"dst_repeat,omitempty"` // FIRST or BOTH; likewise
	EveryMS    int64      `json:"every_ms,omitempty"`
	AnchorAt   *time.Time `json:"anchor_at,omitempty"`
}

// Cron is five fields (minute hour day month weekday) on the wall clock of an IANA time zone.
func Cron(expression, timeZone string) Timing {
	return Timing{Kind: "CRON", Expression: expression, TimeZone: timeZone}
}

// Every is a slot every so long, at least a second, counted from 1970: equal intervals fall together.
func Every(d time.Duration) Timing { return Timing{Kind: "INTERVAL", EveryMS: milliseconds(d)} }

// EveryFrom is a slot every so long from a first one on.
func EveryFrom(d time.Duration, first time.Time) Timing {
	first = first.UTC()
	return Timing{Kind: "INTERVAL", EveryMS: milliseconds(d), AnchorAt: &first}
}

// Overlap says what a slot does while the task of the last one has not ended.
type Overlap string

// Misfire says what becomes of slots older than the catch-up window.
type Misfire string

// Policies of a schedule. OverlapSkip and MisfireSkip are the defaults.
const (
	OverlapAllow    Overlap = "ALLOW"
	OverlapSkip     Overlap = "SKIP"
	OverlapQueueOne Overlap = "QUEUE_ONE" // one slot waits, the others are merged into it

	MisfireSkip     Misfire = "SKIP"
	MisfireFireOnce Misfire = "FIRE_ONCE" // one firing stands for all of them
)

// ScheduleSettings is a whole schedule. Task is the template: its SubmitKey and Delay must be empty.
type ScheduleSettings struct {
	Timing           Timing
	Overlap          Overlap
	Misfire          Misfire
	CatchUpWindow    time.Duration // how late a slot may still fire; zero: an hour
	Task             Submission
	ExpectedRevision *int64 // nil: whatever is there is changed; 0: must not exist yet
}

type scheduleWire struct {
	Timing           Timing  `json:"timing"`
	Overlap          Overlap `json:"overlap,omitempty"`
	Misfire          Misfire `json:"misfire,omitempty"`
	CatchUpWindowMS  int64   `json:"catch_up_window_ms,omitempty"`
	ExpectedRevision *int64  `json:"expected_revision,omitempty"`
}

type scheduleTaskWire struct {
	Queue            string     `json:"queue"`
	Handler          string     `json:"handler"`
	HandlerVersion   string     `json:"handler_version"`
	BusinessKey      string     `json:"business_key,omitempty"`
	ResourceKey      string     `json:"resource_key,omitempty"`
	Priority         int        `json:"priority,omitempty"`
	DelayMS          int64      `json:"delay_ms,omitempty"`
	DeadlineMS       int64      `json:"deadline_ms"`
	AttemptTimeoutMS int64      `json:"attempt_timeout_ms"`
	RetryPolicy      retryWire  `json:"retry_policy"`
	LostPolicy       LostPolicy `json:"lost_policy,omitempty"`
}

func (s ScheduleSettings) body() ([]byte, error) {
	t := s.Task
	task, err := object(scheduleTaskWire{
		Queue: t.Queue, Handler: t.Handler, HandlerVersion: t.HandlerVersion, BusinessKey: t.BusinessKey, ResourceKey: t.ResourceKey, Priority: t.Priority,
		DelayMS: milliseconds(t.Delay), DeadlineMS: milliseconds(t.Deadline), AttemptTimeoutMS: milliseconds(t.AttemptTimeout),
		RetryPolicy: t.Retry.wire(), LostPolicy: t.Lost,
	}, payload{"input", orNull(t.Input)}, payload{"output_contract", t.OutputContract})
	if err != nil {
		return nil, err
	}
	return object(scheduleWire{s.Timing, s.Overlap, s.Misfire, milliseconds(s.CatchUpWindow), s.ExpectedRevision}, payload{"task", task})
}

// ScheduleSummary is a schedule by its name, and where planning stands.
type ScheduleSummary struct {
	ScheduleID  string     `json:"schedule_id"`
	Name        string     `json:"name"`
	Version     int        `json:"version"`
	Revision    int64      `json:"revision"` // rises with every change, pause and resume, not with firing
	Paused      bool       `json:"paused"`
	PauseReason string     `json:"pause_reason"`
	NextAt      *time.Time `json:"next_at"`    // the next slot
	WaitingAt   *time.Time `json:"waiting_at"` // the slot that waits for the task before it
	CreatedAt   time.Time  `json:"created_at"`
	ChangedAt   time.Time  `json:"changed_at"`
}

// ScheduleDefinition is what one version says. Task is the template as the server shows it (schema ScheduleTask).
type ScheduleDefinition struct {
	EffectiveFrom   time.Time       `json:"effective_from"` // slots from here on belong to the version
	Timing          Timing          `json:"timing"`
	Overlap         Overlap         `json:"overlap"`
	Misfire         Misfire         `json:"misfire"`
	CatchUpWindowMS int64           `json:"catch_up_window_ms"`
	Task            json.RawMessage `json:"task"`
}

// Schedule is a schedule with its newest version.
type Schedule struct {
	ScheduleSummary
	ScheduleDefinition
}

// ScheduleVersion is one immutable version.
type ScheduleVersion struct {
	Version   int       `json:"version"`
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
	ScheduleDefinition
}

// ScheduleVersionSummary is a version in a list, without its task.
type ScheduleVersionSummary struct {
	Version         int       `json:"version"`
	EffectiveFrom   time.Time `json:"effective_from"`
	Timing          Timing    `json:"timing"`
	Overlap         Overlap   `json:"overlap"`
	Misfire         Misfire   `json:"misfire"`
	CatchUpWindowMS int64     `json:"catch_up_window_ms"`
	Handler         string    `json:"handler"`
	HandlerVersion  string    `json:"handler_version"`
	CreatedBy       string    `json:"created_by"`
	CreatedAt       time.Time `json:"created_at"`
}

// ScheduleTrigger is what became of one slot.
type ScheduleTrigger struct {
	TriggerID  string     `json:"trigger_id"`
	Version    int        `json:"version"` // the version it is bound to
	PlannedAt  time.Time  `json:"planned_at"`
	Origin     string     `json:"origin"`  // SLOT, MANUAL, BACKFILL or CLOCK
	Outcome    string     `json:"outcome"` // FIRED, SKIPPED_MISFIRE, SKIPPED_OVERLAP, SKIPPED_PAUSED, SKIPPED_CLOCK, MERGED, MANUAL or BACKFILL
	TaskID     string     `json:"task_id"`
	MergedInto *time.Time `json:"merged_into"`
	Reason     string     `json:"reason"`
	DecidedAt  time.Time  `json:"decided_at"`
}

// PutSchedule creates or changes a schedule (scope schedules:manage). A change is a new version, in force from now on;
// slots that came before keep theirs. The same settings again change nothing.
func (c *Client) PutSchedule(ctx context.Context, name string, s ScheduleSettings) (*Schedule, error) {
	body, err := s.body()
	if err != nil {
		return nil, err
	}
	return get[Schedule](ctx, c, "putSchedule", func() (*http.Request, error) {
		return rest.NewPutScheduleRequestWithBody(c.server, name, jsonBody, bytes.NewReader(body))
	})
}

// GetSchedule reads a schedule with its newest version (scope schedules:read).
func (c *Client) GetSchedule(ctx context.Context, name string) (*Schedule, error) {
	return get[Schedule](ctx, c, "getSchedule", func() (*http.Request, error) { return rest.NewGetScheduleRequest(c.server, name) })
}

// Schedules walks the schedules of the application by name (scope schedules:read).
func (c *Client) Schedules(ctx context.Context) iter.Seq2[ScheduleSummary, error] {
	return pages[ScheduleSummary](ctx, c, "listSchedules", func(cursor *string) (*http.Request, error) {
		return rest.NewListSchedulesRequest(c.server, &rest.ListSchedulesParams{Cursor: cursor, Limit: &pageSize})
	})
}

// GetScheduleVersion reads one version with its task (scope schedules:read).
func (c *Client) GetScheduleVersion(ctx context.Context, name string, version int) (*ScheduleVersion, error) {
	return get[ScheduleVersion](ctx, c, "getScheduleVersion", func() (*http.Request, error) {
		return rest.NewGetScheduleVersionRequest(c.server, name, int32(version))
	})
}

// ScheduleVersions walks the versions, newest first (scope schedules:read).
func (c *Client) ScheduleVersions(ctx context.Context, name string) iter.Seq2[ScheduleVersionSummary, error] {
	return pages[ScheduleVersionSummary](ctx, c, "listScheduleVersions", func(cursor *string) (*http.Request, error) {
		return rest.NewListScheduleVersionsRequest(c.server, name, &rest.ListScheduleVersionsParams{Cursor: cursor, Limit: &pageSize})
	})
}

// ScheduleTriggers walks what became of the slots, newest planned time first (scope schedules:read).
func (c *Client) ScheduleTriggers(ctx context.Context, name string) iter.Seq2[ScheduleTrigger, error] {
	return pages[ScheduleTrigger](ctx, c, "listScheduleTriggers", func(cursor *string) (*http.Request, error) {
		return rest.NewListScheduleTriggersRequest(c.server, name, &rest.ListScheduleTriggersParams{Cursor: cursor, Limit: &pageSize})
	})
}

// reason is the body of commands that need no more.
type reasonWire struct {
	Reason string `json:"reason,omitempty"`
}

// PauseSchedule stops firing (scope schedules:manage): slots that come are recorded as skipped.
func (c *Client) PauseSchedule(ctx context.Context, name, reason string) (*Schedule, error) {
	body, err := object(reasonWire{reason})
	if err != nil {
		return nil, err
	}
	return get[Schedule](ctx, c, "pauseSchedule", func() (*http.Request, error) {
		return rest.NewPauseScheduleRequestWithBody(c.server, name, jsonBody, bytes.NewReader(body))
	})
}

// ResumeSchedule goes on with the next slot (scope schedules:manage); what came during the pause stays skipped.
func (c *Client) ResumeSchedule(ctx context.Context, name, reason string) (*Schedule, error) {
	body, err := object(reasonWire{reason})
	if err != nil {
		return nil, err
	}
	return get[Schedule](ctx, c, "resumeSchedule", func() (*http.Request, error) {
		return rest.NewResumeScheduleRequestWithBody(c.server, name, jsonBody, bytes.NewReader(body))
	})
}
