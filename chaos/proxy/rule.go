package proxy

import (
	"regexp"
	"sync/atomic"
	"time"
)

// Moment is where in a statement's life a rule acts.
type Moment uint8

const (
	// Before the server sees the statement: it does not happen (unless the action is Wait).
	Before Moment = iota
	// Sent: the statement is on its way and its answer has not come; whether it happens is open.
	Sent
	// Answered: the server has executed the statement and the client does not know it yet.
	Answered
)

// Action is what a rule does to the connection.
type Action uint8

const (
	// Cut closes both sides with a reset. The server then rolls back what is not committed.
	Cut Action = iota
	// HalfOpen closes the server's side; the client's stays open and silent.
	HalfOpen
	// Freeze leaves both sides open and silent: the server's session lives on with its locks.
	Freeze
	// Wait delays by Rule.Delay, then everything goes on.
	Wait
	// Fail answers with an error packet of Rule.Code. At Before the server never sees the statement, at Answered the
	// client gets the error although the statement succeeded (only where the answer has no rows). Sent is treated as
	// Answered.
	Fail
)

// Rule says at which statements to do what. The zero Rule cuts before every statement.
type Rule struct {
	Match *regexp.Regexp // of the statement's text; nil matches every statement
	After int            // matching statements that pass first
	Times int            // how often it acts; 0 is always
	When  Moment
	Do    Action
	Delay time.Duration // for Wait
	Code  uint16        // for Fail: 1213, 1205, 3572, …
	// Rollback, for Fail at Before: end the server's transaction first, as the server itself does with 1213. Without
	// it the transaction stays open, as the server leaves it with 1205.
	Rollback bool
}

// Commit, Begin and Rollback match the statements drivers send for them.
var (
	Commit   = regexp.MustCompile(`(?i)^\s*COMMIT\b`)
	Begin    = regexp.MustCompile(`(?i)^\s*(START TRANSACTION|BEGIN)\b`)
	Rollback = regexp.MustCompile(`(?i)^\s*ROLLBACK\b`)
)

// At is the rule that cuts the connection at the n-th statement from now (n ≥ 1), once.
func At(n int, when Moment) Rule { return Rule{After: n - 1, Times: 1, When: when, Do: Cut} }

// Deadlock is the rule that ends the transaction at a statement as the server does with a deadlock, once.
func Deadlock(match *regexp.Regexp) Rule {
	return Rule{Match: match, Times: 1, Do: Fail, Code: 1213, Rollback: true}
}

// Active is a rule in force.
type Active struct {
	rule    Rule
	matched atomic.Int64
	fired   atomic.Int64
}

// Fired is how often the rule has acted: a fault test that fired nothing proved nothing.
func (a *Active) Fired() int { return int(a.fired.Load()) }

// take reports whether the rule acts on this statement, and counts it.
func (a *Active) take(text string) bool {
	if a.rule.Match != nil && !a.rule.Match.MatchString(text) {
		return false
	}
	nth := int(a.matched.Add(1)) - a.rule.After
	if nth < 1 || (a.rule.Times > 0 && nth > a.rule.Times) {
		return false
	}
	a.fired.Add(1)
	return true
}
