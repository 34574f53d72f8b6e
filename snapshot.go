package weir

import (
	"encoding/json"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// A Snapshot is a limiter's state at one moment. Rates, quantiles and means
// cover the look-back, [Config].Window; totals count since the limiter was made.
type Snapshot struct {
	Name     string // Config.Name
	Limit    int    // the cap on work in flight now
	Min, Max int    // the bounds of the limit
	InFlight int    // what runs now, by weight
	Queued   int    // what waits now
	Shadow   bool   // Config.Shadow

	Samples       int           // successes within the look-back
	P50, P95, P99 time.Duration // quantiles of their latency, to within 4%
	Mean          time.Duration // mean of their latency
	EWMA          time.Duration // moving average of the latency, 1/16 a sample
	ErrorRate     float64       // share of failures and timeouts, 0 to 1
	TimeoutRate   float64       // share of timeouts, 0 to 1
	QueueWait     time.Duration // mean wait of what had to wait for the limit
	Age           time.Duration // age of the oldest work in flight; up to half too high
	DrainRate     float64       // completions per second while saturated; 0 if unknown, also once it is old

	Admitted    uint64            // started
	Completed   uint64            // ended, however; the rest of Admitted runs now
	Failed      uint64            // of these, failures
	TimedOut    uint64            // of these, timeouts
	Ignored     uint64            // of these, ignored or released
	Cancelled   uint64            // left by its caller while it waited; in the instant of its admission it is Ignored
	Refused     map[Reason]uint64 // not admitted, by reason
	WouldRefuse uint64            // admitted in shadow mode only

	Raised, Cut uint64     // changes of the limit, up and down
	Last        law.Reason // why the limit changed last
	Decision    law.Reason // the law's last word, also where it held the limit

	// Of a limiter in a [Group]; the zero values otherwise.
	Reserved  int           // Stake.Reserved
	Share     float64       // Stake.Share
	Entitled  float64       // slots of the group that it has a right to now, its reserve included
	Borrowed  float64       // slots in flight beyond that, which go back as their work ends
	GroupWait time.Duration // moving average of the wait for the group, 1/16 each; not in QueueWait
}

func snapshotOf(s admit.State) Snapshot {
	snap := Snapshot{
		Limit: s.Limit, Min: s.Min, Max: s.Max,
		InFlight: s.InFlight, Queued: s.Queued, Shadow: s.Shadow,
		Age: s.Age, DrainRate: s.DrainRate,
		Admitted: s.Admitted, Completed: s.Completed, Failed: s.Failed,
		TimedOut: s.TimedOut, Ignored: s.Ignored, Cancelled: s.Cancelled,
		Refused: map[Reason]uint64{}, WouldRefuse: s.WouldRefuse,
		Raised: s.Raised, Cut: s.Cuts, Last: s.Last, Decision: s.Decided,
		Reserved: s.Member.Reserved, Share: s.Member.Share,
		Entitled: s.Member.Entitled, Borrowed: s.Member.Borrowed, GroupWait: s.Member.Wait,
	}
	snap.setRecent(s.Recent)
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
func (s Snapshot) MarshalJSON() ([]byte, error) {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return json.Marshal(struct {
		Name        string            `json:"name"`
		Limit       int               `json:"limit"`
		Min         int               `json:"min"`
		Max         int               `json:"max"`
		InFlight    int               `json:"in_flight"`
		Queued      int               `json:"queued"`
		Shadow      bool              `json:"shadow"`
		Samples     int               `json:"samples"`
		P50         float64           `json:"p50_ms"`
		P95         float64           `json:"p95_ms"`
		P99         float64           `json:"p99_ms"`
		Mean        float64           `json:"mean_ms"`
		EWMA        float64           `json:"ewma_ms"`
		ErrorRate   float64           `json:"error_rate"`
		TimeoutRate float64           `json:"timeout_rate"`
		QueueWait   float64           `json:"queue_wait_ms"`
		Age         float64           `json:"age_ms"`
		DrainRate   float64           `json:"drain_rate"`
		Admitted    uint64            `json:"admitted"`
		Completed   uint64            `json:"completed"`
		Failed      uint64            `json:"failed"`
		TimedOut    uint64            `json:"timed_out"`
		Ignored     uint64            `json:"ignored"`
		Cancelled   uint64            `json:"cancelled"`
		Refused     map[Reason]uint64 `json:"refused"`
		WouldRefuse uint64            `json:"would_refuse"`
		Raised      uint64            `json:"raised"`
		Cut         uint64            `json:"cut"`
		Last        law.Reason        `json:"last_reason"`
		Decision    law.Reason        `json:"decision"`
		Reserved    int               `json:"reserved"`
		Share       float64           `json:"share"`
		Entitled    float64           `json:"entitled"`
		Borrowed    float64           `json:"borrowed"`
		GroupWait   float64           `json:"group_wait_ms"`
	}{
		s.Name, s.Limit, s.Min, s.Max, s.InFlight, s.Queued, s.Shadow,
		s.Samples, ms(s.P50), ms(s.P95), ms(s.P99), ms(s.Mean), ms(s.EWMA),
		s.ErrorRate, s.TimeoutRate, ms(s.QueueWait), ms(s.Age), s.DrainRate,
		s.Admitted, s.Completed, s.Failed, s.TimedOut, s.Ignored, s.Cancelled,
		s.Refused, s.WouldRefuse, s.Raised, s.Cut, s.Last, s.Decision,
		s.Reserved, s.Share, s.Entitled, s.Borrowed, ms(s.GroupWait),
	})
}
