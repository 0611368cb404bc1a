package pulse_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine/pulse"
)

// "Why is it not running?": each cause alone, several in the order a claim meets them, and READY exactly when none is
// left.
func TestBlockersNameEveryCause(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*pulse.Standing)
		want   string
	}{
		"nothing":                 {func(*pulse.Standing) {}, "READY"},
		"running":                 {func(s *pulse.Standing) { s.Task.State, s.Queue.Paused = pulse.Running, true }, ""},
		"review":                  {func(s *pulse.Standing) { s.Task.State, s.Holder = pulse.Review, number(9) }, "REVIEW"},
		"deadline":                {func(s *pulse.Standing) { s.Now, s.Queue.Paused = s.Task.DeadlineAt, true }, "DEADLINE"},
		"time":                    {func(s *pulse.Standing) { s.Task.State, s.Task.AvailableAt = pulse.Delayed, s.Now.Add(1) }, "AVAILABLE_AT"},
		"gate":                    {func(s *pulse.Standing) { s.GateClosed = true }, "GATE"},
		"key":                     {func(s *pulse.Standing) { s.Holder, s.HolderApplication = number(9), app }, "RESOURCE_KEY by " + number(9).Text("task")},
		"its own key":             {func(s *pulse.Standing) { s.Holder, s.HolderApplication = number(1), app }, "READY"},
		"key of another":          {func(s *pulse.Standing) { s.Holder, s.HolderApplication = number(9), otherApp }, "RESOURCE_KEY"},
		"paused":                  {func(s *pulse.Standing) { s.Queue.Paused = true }, "QUEUE_PAUSED"},
		"draining does not block": {func(s *pulse.Standing) { s.Queue.Draining = true }, "READY"},
		"queue full":              {func(s *pulse.Standing) { s.Queue.RunningAttempts = 5 }, "QUEUE_LIMIT 5/5"},
		"rate used up": {func(s *pulse.Standing) {
			s.Queue.Rate = pulse.Rate{Tokens: 4, Period: time.Second, Burst: 1, Credit: 1, Refilled: s.Now}
		}, "QUEUE_RATE 0/4"},
		"rate with a token": {func(s *pulse.Standing) {
			s.Queue.Rate = pulse.Rate{Tokens: 4, Period: time.Second, Burst: 1, Refilled: s.Now.Add(-250 * time.Millisecond)}
		}, "READY"},
		"application full":     {func(s *pulse.Standing) { s.Quota.RunningAttempts = 8 }, "APPLICATION_LIMIT 8/7"},
		"others":               {func(s *pulse.Standing) { s.Ahead = 3 }, "TASKS_AHEAD 3/1000"},
		"others do not matter": {func(s *pulse.Standing) { s.Ahead, s.Queue.Paused = 3, true }, "QUEUE_PAUSED"},
		"all at once": {func(s *pulse.Standing) {
			s.Task.State, s.Task.AvailableAt, s.GateClosed, s.Holder, s.HolderApplication = pulse.Delayed, s.Now.Add(time.Second), true, number(9), otherApp
			s.Queue.Paused, s.Queue.RunningAttempts, s.Quota.RunningAttempts = true, 5, 7
			s.Queue.Rate = pulse.Rate{Tokens: 4, Period: time.Second, Burst: 1, Refilled: s.Now}
		}, "AVAILABLE_AT, GATE, RESOURCE_KEY, QUEUE_PAUSED, QUEUE_LIMIT 5/5, QUEUE_RATE 0/4, APPLICATION_LIMIT 7/7"},
	} {
		s := pulse.Standing{
			Now: start, Task: pulse.Task{ID: number(1), Application: app, State: pulse.Queued, AvailableAt: start, DeadlineAt: start.Add(hour)},
			Queue: pulse.Queue{RunningAttemptsMax: 5}, Quota: pulse.Quota{RunningAttemptsMax: 7},
		}
		c.change(&s)
		var got []string
		for _, b := range pulse.Blockers(&s) {
			text := string(b.Kind)
			if b.Limit > 0 {
				text += fmt.Sprintf(" %d/%d", b.Current, b.Limit)
			}
			if !b.Holder.Zero() {
				text += " by " + b.Holder.Text("task")
			}
			got = append(got, text)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}

// Next actions over every state, source and history: the table is the rules of reviews and manual retries.
func TestNextActions(t *testing.T) {
	for _, c := range []struct {
		s    pulse.Standstill
		want string
	}{
		{pulse.Standstill{State: pulse.PublicFailed, Source: pulse.SourceDirect}, "[RETRY]"},
		{pulse.Standstill{State: pulse.PublicFailed, Source: pulse.SourceRetry}, "[RETRY]"},
		{pulse.Standstill{State: pulse.PublicCancelled, Source: pulse.SourceDirect}, "[RETRY]"},
		{pulse.Standstill{State: pulse.PublicFailed, Source: pulse.SourceDirect, Retried: true}, "[FOLLOW_SUCCESSOR]"},
		{pulse.Standstill{State: pulse.PublicFailed, Source: pulse.SourceDirect, Unknown: true}, "[SUBMIT_NEW]"},
		{pulse.Standstill{State: pulse.PublicFailed, Source: pulse.SourceSchedule}, "[TRIGGER_SCHEDULE]"},
		{pulse.Standstill{State: pulse.PublicFailed, Source: pulse.SourceSchedule, Unknown: true}, "[SUBMIT_NEW TRIGGER_SCHEDULE]"},
		{pulse.Standstill{State: pulse.PublicFailed, Source: pulse.SourceWorkflow}, "[RECOVER_INSTANCE]"},
		{pulse.Standstill{State: pulse.PublicReview, Source: pulse.SourceWorkflow}, "[RECOVER_INSTANCE]"},
		{pulse.Standstill{State: pulse.PublicReview, Source: pulse.SourceDirect, Unknown: true}, "[REVIEW]"},
		{pulse.Standstill{State: pulse.PublicReview, Source: pulse.SourceSchedule}, "[REVIEW]"},
		{pulse.Standstill{State: pulse.PublicQueued, Source: pulse.SourceDirect}, "[]"},
		{pulse.Standstill{State: pulse.PublicSucceeded, Source: pulse.SourceDirect}, "[]"},
	} {
		if got := fmt.Sprint(pulse.NextActions(c.s)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.s, got, c.want)
		}
	}
}
