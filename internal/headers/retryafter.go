package headers

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"
)

// RetryAfter reads the Retry-After of a response (RFC 9110, section 10.2.3), in seconds or as a
// date, and reports whether the header is valid. A date counts from the response's own Date,
// because the clocks may differ. A date in the past is 0.
func RetryAfter(h http.Header, now time.Time) (after time.Duration, ok bool) {
	text := h.Get("Retry-After")
	seconds, err := strconv.ParseUint(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && seconds > uint64(math.MaxInt64/time.Second):
		return math.MaxInt64, true
	case err == nil:
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return max(at.Sub(now), 0), true
}

// maxTimeout is the longest timeout that a header may have. A longer timeout means nothing for a
// request.
const maxTimeout = 24 * time.Hour

// Timeout reads a time in whole milliseconds, if the header has one line and the time is a day at
// most.
func Timeout(lines []string) (time.Duration, bool) {
	if len(lines) != 1 {
		return 0, false
	}
	ms, err := strconv.ParseUint(lines[0], 10, 63)
	return time.Duration(ms) * time.Millisecond, err == nil && ms <= uint64(maxTimeout.Milliseconds())
}

// grpcUnits are the units of a timeout of gRPC.
var grpcUnits = map[byte]time.Duration{
	'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond, 'u': time.Microsecond, 'n': time.Nanosecond,
}

// GRPCTimeout reads the timeout of a call of gRPC: at most eight digits and a unit. Like Timeout,
// it accepts a day at most.
func GRPCTimeout(lines []string) (time.Duration, bool) {
	if len(lines) != 1 || len(lines[0]) < 2 || len(lines[0]) > 9 {
		return 0, false
	}
	last := len(lines[0]) - 1
	unit, known := grpcUnits[lines[0][last]]
	n, err := strconv.ParseUint(lines[0][:last], 10, 63)
	return time.Duration(n) * unit, known && err == nil && n <= uint64(maxTimeout/unit)
}

// TellWait adds a Server-Timing header with the time that a request waited for its slot to the
// response. Without a wait it adds no header.
func TellWait(h http.Header, waited time.Duration) {
	if waited > 0 {
		h.Add("Server-Timing", "weir;dur="+strconv.FormatFloat(float64(waited)/float64(time.Millisecond), 'f', 1, 64))
	}
}
