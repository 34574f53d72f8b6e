package headers

import (
	"net/http"
	"strconv"
	"time"
)

// TellWait adds to a response how long its request waited for a slot, if it did.
func TellWait(h http.Header, waited time.Duration) {
	if waited > 0 {
		h.Add("Server-Timing", "weir;dur="+strconv.FormatFloat(float64(waited)/float64(time.Millisecond), 'f', 1, 64))
	}
}
