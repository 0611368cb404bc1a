package cron

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ExpressionBytesMax bounds the text of an expression.
const ExpressionBytesMax = 255

// Expression is the five fields of a cron expression, ready to be matched.
type Expression struct {
	minute, hour, day, month, weekday set
	// dayStarred and weekdayStarred: when neither day field begins with *, a day matches if either does (POSIX crontab).
	dayStarred, weekdayStarred bool
}

var macros = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// ParseExpression reads five fields separated by blanks, or a macro such as @daily. An expression that no date of the
// calendar ever matches, such as 31 February, is refused.
func ParseExpression(text string) (Expression, error) {
	if len(text) > ExpressionBytesMax {
		return Expression{}, fmt.Errorf("the expression is longer than %d bytes", ExpressionBytesMax)
	}
	if full, ok := macros[strings.ToLower(strings.TrimSpace(text))]; ok {
		text = full
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(words) != len(fields) {
		return Expression{}, fmt.Errorf("an expression has %d fields (minute hour day month weekday), here %d", len(fields), len(words))
	}
	var e Expression
	var unused bool
	for i, part := range []struct {
		into    *set
		starred *bool
	}{{&e.minute, &unused}, {&e.hour, &unused}, {&e.day, &e.dayStarred}, {&e.month, &unused}, {&e.weekday, &e.weekdayStarred}} {
		var err error
		if *part.into, *part.starred, err = fields[i].parse(words[i]); err != nil {
			return Expression{}, err
		}
	}
	if !e.possible() {
		return Expression{}, errors.New("no month has such a day")
	}
	return e, nil
}

// possible reports whether some date matches: a leap year holds every date there is.
func (e *Expression) possible() bool {
	if !e.dayStarred && !e.weekdayStarred {
		return true // any week holds a match
	}
	for d := time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC); d.Year() == 2028; d = d.AddDate(0, 0, 1) {
		if e.month.has(int(d.Month())) && e.day.has(d.Day()) {
			return true
		}
	}
	return false
}

// EveryHour reports an hour field that leaves no hour out.
func (e *Expression) EveryHour() bool { return e.hour == 1<<24-1 }

// onDate reports whether the expression may match on a date. wall is a wall-clock time written as UTC.
func (e *Expression) onDate(wall time.Time) bool {
	if !e.month.has(int(wall.Month())) {
		return false
	}
	day, weekday := e.day.has(wall.Day()), e.weekday.has(int(wall.Weekday()))
	if e.dayStarred || e.weekdayStarred {
		return day && weekday
	}
	return day || weekday
}

// matches reports whether a wall-clock minute matches.
func (e *Expression) matches(wall time.Time) bool {
	return e.minute.has(wall.Minute()) && e.hour.has(wall.Hour()) && e.onDate(wall)
}

// horizonDays bounds the search: 29 February may be eight years away.
const horizonDays = 8*366 + 62

// nextWall is the first matching wall-clock minute strictly after wall.
func (e *Expression) nextWall(wall time.Time) (time.Time, bool) {
	wall = wall.Truncate(time.Minute).Add(time.Minute)
	day := dateOf(wall)
	hour, minute := wall.Hour(), wall.Minute()
	for range horizonDays {
		if e.onDate(day) {
			if h, m := e.timeFrom(hour, minute); h >= 0 {
				return day.Add(time.Duration(h)*time.Hour + time.Duration(m)*time.Minute), true
			}
		}
		day, hour, minute = day.AddDate(0, 0, 1), 0, 0
	}
	return time.Time{}, false
}

// timeFrom is the first matching time of day at or after hour:minute; −1 when there is none.
func (e *Expression) timeFrom(hour, minute int) (h, m int) {
	if e.hour.has(hour) {
		if m := e.minute.from(minute); m >= 0 {
			return hour, m
		}
	}
	return e.hour.from(hour + 1), e.minute.from(0)
}

func dateOf(wall time.Time) time.Time {
	y, m, d := wall.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}
