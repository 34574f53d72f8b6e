package clock

import "time"

// epoch is the zero of the clock: one reading relative to it costs half as much as time.Now. It
// lies half a century back, so that the clock is positive within testing/synctest too, where the
// year is 2000.
var epoch = time.Now().Add(-50 * 365 * 24 * time.Hour)

// Now reads the clock, in nanoseconds.
func Now() int64 { return int64(time.Since(epoch)) }

// At returns a time on the scale of Now.
func At(t time.Time) int64 { return int64(t.Sub(epoch)) }
