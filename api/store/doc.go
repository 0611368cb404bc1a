// Package store stands between rows and the values the engine thinks in. Load reads, rung by rung, everything a plan
// may look at; Apply writes what the plan says, in rung order, and checks every fenced write by its affected rows.
// There is no decision here: an if in this package is about SQL, never about business.
package store
