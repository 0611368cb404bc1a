// Package cron computes when a schedule is due and what becomes of every slot. A slot is a planned instant. Timing
// (a cron expression in a time zone, or a fixed interval) says which instants are slots; Decide says, for the slots
// that have come, which fire, wait, are merged or are skipped. Nothing here reads a clock or a zone database: the
// caller passes times and a *time.Location.
//
// A cron expression names wall-clock times. Almost every wall-clock time is one instant; on two days of the year of a
// zone with daylight saving it is none (the clock jumps over it: a gap) or two (the clock is set back: a repeat).
// Every timing declares what it wants there (pulse.md Schedules, T12):
//
//	gap     SKIP             a time that does not exist is no slot
//	        FIRE_AFTER_GAP   it becomes a slot at the first instant after the gap, together with all others of the gap
//	repeat  FIRST            a time that exists twice is a slot when it comes first
//	        BOTH             it is a slot both times
//
// What a declaration takes away or moves is listed by Silent, so that it leaves a visible record.
package cron
