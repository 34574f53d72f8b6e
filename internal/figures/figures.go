package figures

import (
	"fmt"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
)

// Header names the columns of [Line.String]: the limit, in flight, queued, p95,
// admitted and refused per second.
const Header = "limit infl queue   p95 adm/s ref/s"

// Line is the activity of a limiter between two readings.
type Line struct {
	Limit, InFlight, Queued int
	P95                     time.Duration
	Admitted, Refused       float64 // per second; requests admitted only by shadow mode count as refused
	Change                  string  // the last change of the limit, with its reason
}

// String renders the figures below [Header].
func (l Line) String() string {
	return fmt.Sprintf("%5d %4d %5d %5s %5.0f %5.0f",
		l.Limit, l.InFlight, l.Queued, Latency(l.P95), l.Admitted, l.Refused)
}

// Latency renders d in five characters, and a dash without a measurement.
func Latency(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < time.Second:
		return fmt.Sprintf("%.0fms", d.Seconds()*1000)
	default:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
}

// Meter reads a limiter's figures repeatedly.
type Meter struct {
	snapshot func() weir.Snapshot
	change   func() string
	at       time.Time
	admitted uint64
	refused  uint64
}

// NewMeter returns a meter whose first line covers the time from now on.
func NewMeter(lim *weir.Limiter) *Meter {
	return start(lim.Snapshot, func() string {
		if changes := lim.History(); len(changes) > 0 {
			return changes[len(changes)-1].String()
		}
		return ""
	})
}

// NewKeyMeter is NewMeter for a key of a set. It does not report changes of the limit.
func NewKeyMeter(set *bulkhead.Set, key string) *Meter {
	return start(
		func() weir.Snapshot { return set.Snapshot().ByKey[key] },
		func() string { return "" })
}

func start(snapshot func() weir.Snapshot, change func() string) *Meter {
	m := &Meter{snapshot: snapshot, change: change}
	m.Read()
	return m
}

// Read returns the figures since the last call.
func (m *Meter) Read() Line {
	now, s := time.Now(), m.snapshot()
	refused := s.RefusedTotal() + s.WouldRefuse
	admitted := s.Admitted - s.WouldRefuse
	seconds := now.Sub(m.at).Seconds()
	line := Line{
		Limit: s.Limit, InFlight: s.InFlight, Queued: s.Queued, P95: s.P95,
		Admitted: float64(admitted-m.admitted) / seconds,
		Refused:  float64(refused-m.refused) / seconds,
		Change:   m.change(),
	}
	m.at, m.admitted, m.refused = now, admitted, refused
	return line
}
