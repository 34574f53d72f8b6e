package headers

import (
	"net/http"
	"strconv"
	"time"
)

// maxTimeout is the longest time to wait that is believed. Beyond it a timeout means nothing for
// a request.
const maxTimeout = 24 * time.Hour

// Timeout reads a time in whole milliseconds, if the header has one line and the time is no
// longer than is believed.
func Timeout(lines []string) (time.Duration, bool) {
	if len(lines) != 1 {
		return 0, false
	}
	ms, err := strconv.ParseUint(lines[0], 10, 63)
	return time.Duration(ms) * time.Millisecond, err == nil && ms <= uint64(maxTimeout.Milliseconds())
}

// TellWait adds to a response how long its request waited for a slot, if it did.
func TellWait(h http.Header, waited time.Duration) {
	if waited > 0 {
		h.Add("Server-Timing", "weir;dur="+strconv.FormatFloat(float64(waited)/float64(time.Millisecond), 'f', 1, 64))
	}
}
