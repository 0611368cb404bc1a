// Package runner is the safety net behind the wake-ups: it looks, without locks, for what is due, and hands it to the
// lanes, which judge it again under their locks. Any number of nodes run it over the same rows; none of them owns
// anything. Losing every hint of the platform costs one tick.
//
// The clock of the node is used only to sleep: every scan asks with the database's time, whose offset is measured
// anew every few seconds.
package runner
