package tracelog

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A stamp is a point in time, in nanoseconds: since 1970 if it is a date, or since the
// start.
type stamp struct {
	ns   int64
	date bool
}

// dateLayouts are the layouts of dates after the T between date and time was replaced by a
// space. A fraction of a second, after a point or a comma, may follow the seconds in all of
// them.
var dateLayouts = []string{
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05",
	"02/Jan/2006:15:04:05 -0700",
	"2006-01-02 15:04:05Z0700",
	"2006-01-02 15:04:05Z07",
	"2006-01-02 15:04:05 Z07:00",
	"2006-01-02 15:04:05 Z0700",
	"2006-01-02 15:04:05 MST",
	"2006-01-02 15:04Z07:00",
	"2006-01-02 15:04",
	"2006/01/02 15:04:05",
	"20060102 150405Z0700",
	"20060102 150405",
	time.RFC1123,
	time.RFC1123Z,
	time.ANSIC,
}

const (
	wantStamp = "a date such as 2026-03-01T12:00:00.5Z or 01/Mar/2026:12:00:00 +0000, " +
		"seconds, ms, us or ns since 1970, or a time since the start, 0 to 10000h, such as 0.5 or 35ms"

	// firstEpoch is the least number that is a date and not a time since the start. As seconds
	// since the start it is more than three years, and as seconds since 1970 a day of 1973. Numbers
	// from a thousand times firstEpoch on are milliseconds, and so on. Up to lastEpoch, in 2261,
	// they are unambiguous.
	firstEpoch = 1e8
	lastEpoch  = 9.2e9

	longest = 10000 * time.Hour
)

// stamps reads stamps. The next date most likely has the layout of the last date.
type stamps struct{ layout int }

// inMinutes reports whether the last date was written without seconds.
func (s *stamps) inMinutes() bool { return !strings.Contains(dateLayouts[s.layout], "05") }

func (s *stamps) parse(text string) (at stamp, problem string) {
	text = strings.Trim(strings.TrimSpace(text), "[]")
	if at, ok := epoch(text); ok {
		return at, ""
	}
	if d, problem := parseTime(text, true); problem == "" {
		return stamp{ns: int64(d)}, ""
	}
	if t, ok := s.date(text); ok {
		return stamp{t.UnixNano(), true}, ""
	}
	return at, fmt.Sprintf("is %q: want %s", shortened(text), wantStamp)
}

// epoch reads a number of seconds, ms, us or ns since 1970. Integers are exact.
func epoch(text string) (at stamp, ok bool) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= firstEpoch) {
		return at, false
	}
	perUnit := int64(1e9)
	for limit := firstEpoch * 1e3; v >= limit && perUnit > 1; limit *= 1e3 {
		perUnit /= 1e3
	}
	if v > lastEpoch*1e9/float64(perUnit) {
		return at, false
	}
	if whole, err := strconv.ParseInt(text, 10, 64); err == nil {
		return stamp{whole * perUnit, true}, true
	}
	return stamp{int64(math.Round(mul(v, float64(perUnit)))), true}, true
}

// date reads a date. A date without a zone is in UTC.
func (s *stamps) date(text string) (t time.Time, ok bool) {
	const day, compact = len("2006-01-02"), len("20060102")
	for _, at := range []int{day, compact} {
		if len(text) > at && (text[at] == 'T' || text[at] == 't') && text[0] >= '0' && text[0] <= '9' {
			text = strings.ToUpper(text[:at] + " " + text[at+1:])
		}
	}
	for i := range dateLayouts {
		layout := (s.layout + i) % len(dateLayouts)
		if t, err := time.Parse(dateLayouts[layout], text); err == nil && t.Year() >= 1970 && t.Year() < 2262 {
			s.layout = layout
			return t, true
		}
	}
	return t, false
}

// parseTime reads a number of seconds, or a time with a unit. It accepts 0 only if zero is set.
func parseTime(text string, zero bool) (d time.Duration, problem string) {
	text = strings.TrimSpace(text)
	d, err := time.ParseDuration(text)
	if seconds, e := strconv.ParseFloat(text, 64); e == nil && math.Abs(seconds) < firstEpoch {
		d, err = time.Duration(math.Round(mul(seconds, 1e9))), nil
	}
	if err != nil {
		return 0, fmt.Sprintf("is %q: want seconds, or a time with a unit such as 35ms, %s", shortened(text), rangeOfTime(zero))
	}
	return d, timeProblem(d, zero)
}

func timeProblem(d time.Duration, zero bool) string {
	if d < 0 || d > longest || d == 0 && !zero {
		return fmt.Sprintf("is %v: want %s", d, rangeOfTime(zero))
	}
	return ""
}

func rangeOfTime(zero bool) string {
	if zero {
		return "0 to 10000h"
	}
	return "more than 0 and up to 10000h"
}

// mul returns a product that is rounded before it is added to anything.
func mul(a, b float64) float64 { return float64(a * b) }
