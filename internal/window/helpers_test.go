package window

import (
	"math"
	"math/rand/v2"
	"time"
)

const (
	ms     = int64(time.Millisecond)
	second = int64(time.Second)
)

func lognormalOf(r *rand.Rand) int64 {
	return int64(min(max(30e6*math.Exp(r.NormFloat64()), 1e6), 1e9))
}

// Recent returns the measurements of a snapshot.
func (m *Meter) Recent(now int64) Recent {
	r := NewRaw()
	m.CopyRecent(r, now)
	return r.Recent()
}
