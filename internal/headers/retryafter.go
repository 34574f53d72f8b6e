package headers

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// RetryAfter reads the Retry-After of a response (RFC 9110, section 10.2.3), in seconds or as a
// date, and reports whether it has one that is valid. A date counts from the response's own Date,
// because the clocks may differ; one in the past is 0.
func RetryAfter(h http.Header, now time.Time) (after time.Duration, ok bool) {
	text := h.Get("Retry-After")
	if isDigits(text) {
		seconds, err := strconv.ParseUint(text, 10, 64)
		if err != nil || seconds > uint64(math.MaxInt64/time.Second) {
			return math.MaxInt64, true
		}
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

func isDigits(text string) bool {
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return text != ""
}
