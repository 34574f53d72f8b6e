package weir

import (
	"time"

	"github.com/weir-go/weir/histogram"
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/internal/wire"
	"github.com/weir-go/weir/law"
)

// A Snapshot is a limiter's state at one moment. Rates, quantiles and means cover the look-back,
// which is [Config].Window or a look-back that the law chose. The look-back of [law.Setpoint] is
// seconds long. Where little work comes, it lasts until some work has come, which may take hours.
// Totals count since the limiter was made. The tags are the names in JSON.
type Snapshot struct {
	Name     string `wire:"name"`      // Config.Name
	Limit    int    `wire:"limit"`     // most that may be in flight now: the limit, or the cap of SetCap if lower
	Min      int    `wire:"min"`       // the bounds of the limit
	Max      int    `wire:"max"`       // see Min
	InFlight int    `wire:"in_flight"` // weight of the running work
	Resting  int    `wire:"resting"`   // slots that stay taken for a while after the downstream refused their work
	Queued   int    `wire:"queued"`    // pieces of waiting work
	Shadow   bool   `wire:"shadow"`    // Config.Shadow

	Samples     int           `wire:"samples"`       // successes within the look-back
	P50         time.Duration `wire:"p50_ms"`        // quantiles of their latency, to within 4%
	P95         time.Duration `wire:"p95_ms"`        // see P50
	P99         time.Duration `wire:"p99_ms"`        // see P50
	Mean        time.Duration `wire:"mean_ms"`       // mean of their latency
	EWMA        time.Duration `wire:"ewma_ms"`       // moving average of the latency, 1/16 a sample
	ErrorRate   float64       `wire:"error_rate"`    // share of failures and timeouts, 0 to 1
	TimeoutRate float64       `wire:"timeout_rate"`  // share of timeouts, 0 to 1
	QueueWait   time.Duration `wire:"queue_wait_ms"` // mean wait of work that had to wait for the limit
	Age         time.Duration `wire:"age_ms"`        // age of the oldest work in flight; up to half too high
	DrainRate   float64       `wire:"drain_rate"`    // completions per second while saturated; 0 if unknown or old
	Deadline    time.Duration `wire:"deadline_ms"`   // time left to work when it arrived, a median; 0 if most has none, or the limit was never reached

	Admitted   uint64            `wire:"admitted"`   // started
	Completed  uint64            `wire:"completed"`  // ended with any outcome; the rest of Admitted runs now
	Succeeded  uint64            `wire:"succeeded"`  // successes, counted when reported: measured work may still run
	Failed     uint64            `wire:"failed"`     // failures, likewise
	TimedOut   uint64            `wire:"timed_out"`  // timeouts, likewise
	Ignored    uint64            `wire:"ignored"`    // ignored or released, likewise
	Overloaded uint64            `wire:"overloaded"` // refused by the downstream, likewise
	Late       uint64            `wire:"late"`       // successes whose caller had left, likewise; not in Succeeded
	Cancelled  uint64            `wire:"cancelled"`  // left the queue by itself; if admitted in that instant, Ignored
	Refused    map[Reason]uint64 `wire:"refused"`    // not admitted, by reason

	// WouldRefuse counts the work admitted in shadow mode only. Beside the running work the limiter
	// simulates the work that it would have admitted, with its queue and its timeout. The simulated
	// work counts against the limit, and work that ends on the server makes room in it. On a server
	// whose throughput does not fall with load, WouldRefuse comes within 3% of all requests of the
	// refusals of a live limiter. If the throughput does fall, WouldRefuse is too high during
	// overload, because nothing shows the server's capacity without overload. Deadlines, priorities
	// and tenants are unknown for work that does not wait. The latencies above are latencies of the
	// real work.
	WouldRefuse uint64 `wire:"would_refuse"`

	Raised   uint64     `wire:"raised"`      // changes of the limit, up and down
	Cut      uint64     `wire:"cut"`         // see Raised
	Last     law.Reason `wire:"last_reason"` // why the limit changed last
	Decision law.Reason `wire:"decision"`    // the law's last reason, even if it held the limit

	// With [Config].Histograms; nil and 0 without.
	Latencies  *histogram.Snapshot `wire:"latencies"`   // of successes
	QueueWaits *histogram.Snapshot `wire:"queue_waits"` // of work that waited and was then admitted
	Peak       int                 `wire:"peak"`        // most work in flight in the last one to two minutes

	// For a limiter in a bulkhead.Set with a cap; the zero values otherwise.
	Reserved  int           `wire:"reserved"`      // slots kept for it
	Share     float64       `wire:"share"`         // its weight relative to the other shares
	Entitled  float64       `wire:"entitled"`      // slots of the cap that it is entitled to now, its reserve included
	Borrowed  float64       `wire:"borrowed"`      // slots in flight beyond Entitled
	GroupWait time.Duration `wire:"group_wait_ms"` // moving average of the wait for the cap, 1/16 a wait
}

// snapshot reads the limiter. The measurements are copied under the lock, the recent measurements
// to raw, and evaluated without the lock.
func (l *Limiter) snapshot(at int64, raw *window.Raw) Snapshot {
	conf := l.config.Load()
	if conf.cold == nil || !conf.cold.measures {
		return snapshotOf(conf.name, l.node.Read(at, raw), raw)
	}
	measured := window.NewCumulative()
	snap := snapshotOf(conf.name, l.node.Read(at, raw, measured), raw)
	snap.Latencies = measured.Latencies.Snapshot()
	snap.QueueWaits = measured.Waits.Snapshot()
	snap.Peak = measured.Peak()
	if e := conf.cold.exemplars; e != nil {
		snap.Latencies = snap.Latencies.Add(e.kept.Load())
	}
	return snap
}

func snapshotOf(name string, s admit.State, raw *window.Raw) Snapshot {
	snap := Snapshot{
		Name:  name,
		Limit: s.Limit, Min: s.Min, Max: s.Max,
		InFlight: s.InFlight, Resting: s.Resting, Queued: s.Queued, Shadow: s.Shadow,
		Age: s.Age, DrainRate: s.DrainRate, Deadline: s.Deadline,
		Admitted: s.Admitted, Completed: s.Completed, Failed: s.Failed,
		Succeeded: s.Succeeded, TimedOut: s.TimedOut, Ignored: s.Ignored, Overloaded: s.Overloaded, Late: s.Late, Cancelled: s.Cancelled,
		Refused: map[Reason]uint64{}, WouldRefuse: s.WouldRefuse,
		Raised: s.Raised, Cut: s.Cuts, Last: s.Last, Decision: s.Decided,
		Reserved: s.Member.Reserved, Share: s.Member.Share,
		Entitled: s.Member.Entitled, Borrowed: s.Member.Borrowed, GroupWait: s.Member.Wait,
	}
	snap.setRecent(raw.Recent())
	for verdict, n := range s.Refused {
		if n > 0 {
			snap.Refused[Reason(verdict)] = n
		}
	}
	return snap
}

func (s *Snapshot) setRecent(r window.Recent) {
	s.Samples = r.Samples
	s.P50, s.P95, s.P99 = r.P50, r.P95, r.P99
	s.Mean, s.EWMA = r.Mean, r.EWMA
	s.ErrorRate, s.TimeoutRate = r.ErrorRate, r.TimeoutRate
	s.QueueWait = r.QueueWait
}

// RefusedTotal is the sum of Refused over all reasons.
func (s Snapshot) RefusedTotal() uint64 {
	var total uint64
	for _, n := range s.Refused {
		total += n
	}
	return total
}

// MarshalJSON renders the snapshot with names in lower case and durations as
// milliseconds, as in "p95_ms": 131.2.
func (s Snapshot) MarshalJSON() ([]byte, error) { return wire.JSON(s) }
