package dash

import (
	"time"

	"github.com/weir-go/weir/internal/recording"
	"github.com/weir-go/weir/law"
)

// believe takes the beliefs of a law about the downstream from its decision. The latency without
// load is measured now and then, so its age says how sure the law is.
func believe(b recording.Belief, now time.Time, d law.Reason) recording.Belief {
	milliseconds := func(seconds float64) float64 { return recording.Tenths(seconds * 1000) }
	switch {
	case d.Code == law.Pinned: // set by hand, and not by a measurement
		return recording.Belief{}
	case d.Code == law.Rebased && d.Signal == law.NoLoad:
		b.NoLoad, b.At = milliseconds(d.Have), now.UnixMilli()
	case d.Code == law.Probing:
		b.NoLoad = milliseconds(d.Want)
	case d.Code == law.Unused && d.Have == d.Want: // there is no target yet
	case d.Code >= law.Above && d.Code <= law.Unused && isLatency(d.Signal):
		b.Target, b.Signal = milliseconds(d.Want), d.Signal.String()
	}
	return b
}

func isLatency(s law.Signal) bool {
	return s > law.NoSignal && s < 1000 || s == law.EWMA || s == law.Average || s == law.Least
}
