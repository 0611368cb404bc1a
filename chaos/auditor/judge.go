package main

import (
	"fmt"
	"slices"
)

// figures is the closing line. Everything under "broken" must be zero.
type figures struct {
	Sent       int `json:"sent"`
	Accepted   int `json:"accepted"`
	Tasks      int `json:"tasks"`
	Executions int `json:"executions"`
	Repeats    int `json:"repeats"`         // executions after the first, each allowed by its task's declared policy
	Reviews    int `json:"waiting_reviews"` // tasks that wait for a person
	Silent     int `json:"begun_not_done"`  // handlers that were killed at work

	Lost       int `json:"lost"`                      // accepted, and no task
	Doubled    int `json:"doubled_keys"`              // one key, two tasks
	Blind      int `json:"blind_repeats"`             // a second execution that nothing on record allows
	Unrecorded int `json:"executions_unrecorded"`     // begun, and no attempt of that number
	Double     int `json:"double_effects_as_success"` // a REVIEW task that succeeded after two executions
	Stuck      int `json:"stuck"`                     // open when everything should have ended
	Torn       int `json:"torn"`                      // open row and full row disagree
	Drift      int `json:"counter_drift"`             // counters that are not what the rows say
	Gaps       int `json:"stream_gaps"`               // holes, wrong links, results missing or twice
}

func (f *figures) broken() int {
	return f.Lost + f.Doubled + f.Blind + f.Unrecorded + f.Double + f.Stuck + f.Torn + f.Drift + f.Gaps
}

// judge holds the journals against the rows. Complaints name what is wrong, for the person who reads them.
func judge(c *clients, e *effects, r *rows, ended bool, complain func(string)) figures {
	f := figures{Sent: len(c.sent), Accepted: len(c.accepted), Tasks: len(r.tasks), Doubled: len(c.changed)}
	for key, id := range c.accepted {
		if r.tasks[id] == nil {
			f.Lost++
			complain(fmt.Sprintf("lost: key %s was accepted as %s, which does not exist", key, id))
		}
	}
	for id, begun := range e.begun {
		f.Executions += len(begun)
		f.Silent += len(begun) - len(e.done[id])
		judgeExecutions(&f, id, begun, r.tasks[id], complain)
	}
	for id, t := range r.tasks {
		judgeEnd(&f, id, t, ended, complain)
	}
	return f
}

// judgeExecutions: every execution has an attempt of its number, open or ended, and every one after the first follows an
// unknown outcome of a task whose submitter declared it safe to repeat.
func judgeExecutions(f *figures, id string, begun []int, t *task, complain func(string)) {
	if t == nil {
		f.Unrecorded += len(begun)
		complain(fmt.Sprintf("%s ran and does not exist", id))
		return
	}
	slices.Sort(begun) // journals of several workers come one after the other
	seen := map[int]bool{}
	for i, number := range begun {
		_, recorded := t.attempts[number]
		if !recorded && !t.open || seen[number] {
			f.Unrecorded++
			complain(fmt.Sprintf("%s: attempt %d ran, recorded %v, ran before %v", id, number, recorded, seen[number]))
		}
		seen[number] = true
		if i == 0 {
			continue
		}
		f.Repeats++
		before := t.attempts[begun[i-1]]
		if before != outcomeRetryable && (before != outcomeUnknown || t.lost == lostReview) {
			f.Blind++
			complain(fmt.Sprintf("%s: attempt %d repeats attempt %d, whose outcome is %d, under lost policy %d", id, number, begun[i-1], before, t.lost))
		}
	}
	if t.state == stateSucceeded && t.lost == lostReview && len(begun) > 1 {
		f.Double++
		complain(fmt.Sprintf("%s succeeded after %d executions nobody declared safe", id, len(begun)))
	}
}

func judgeEnd(f *figures, id string, t *task, ended bool, complain func(string)) {
	switch {
	case t.state == stateReview:
		f.Reviews++
		unknown := false
		for _, outcome := range t.attempts {
			unknown = unknown || outcome == outcomeUnknown
		}
		if !unknown {
			f.Torn++
			complain(id + " waits for a person, and no attempt of it is unknown")
		}
	case t.state == stateOpen && ended:
		f.Stuck++
		complain(id + " is still open")
	}
	if t.open != (t.state == stateOpen || t.state == stateReview) {
		f.Torn++
		complain(fmt.Sprintf("%s is in state %d with an open row: %v", id, t.state, t.open))
	}
}
