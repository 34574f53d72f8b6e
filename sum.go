package weir

import (
	"github.com/weir-go/weir/internal/window"
)

// Sum returns the state of several limiters as if they were one limiter. Totals, limits, work and
// drain rates are added up. Rates and quantiles cover the work of all limiters. EWMA is weighted by
// samples, Age is the age of the oldest work, and Peak is the sum of peaks at different moments.
// Name, Last, Deadline, Decision and GroupWait stay empty. The limiters are read one after the
// other. A nil limiter adds nothing.
func Sum(limiters ...*Limiter) Snapshot {
	return sumOf(limiters, func(int, *Snapshot) {})
}

// sumOf is Sum, and also calls each with the snapshot of each limiter.
func sumOf(limiters []*Limiter, each func(i int, s *Snapshot)) Snapshot {
	sum := Snapshot{Refused: map[Reason]uint64{}}
	var total window.Total
	raw := window.NewRaw()
	for i, l := range limiters {
		if l == nil {
			continue
		}
		s := l.snapshot(now(), raw)
		total.Add(raw)
		each(i, &s)
		sum.addTotals(s)
		sum.Limit += s.Limit
		sum.Min += s.Min
		sum.Max += s.Max
		sum.InFlight += s.InFlight
		sum.Resting += s.Resting
		sum.Queued += s.Queued
		sum.DrainRate += s.DrainRate
		sum.Reserved += s.Reserved
		sum.Share += s.Share
		sum.Entitled += s.Entitled
		sum.Borrowed += s.Borrowed
		sum.Peak += s.Peak
		sum.Age = max(sum.Age, s.Age)
		sum.Shadow = sum.Shadow || s.Shadow
	}
	sum.setRecent(total.Recent())
	return sum
}

// addTotals adds the counts of another snapshot since its limiter was made: Admitted, Completed,
// Refused, histograms and so on. The other fields stay as they are.
func (s *Snapshot) addTotals(o Snapshot) {
	s.Admitted += o.Admitted
	s.Completed += o.Completed
	s.Succeeded += o.Succeeded
	s.Failed += o.Failed
	s.TimedOut += o.TimedOut
	s.Ignored += o.Ignored
	s.Overloaded += o.Overloaded
	s.Late += o.Late
	s.Cancelled += o.Cancelled
	s.WouldRefuse += o.WouldRefuse
	s.Raised += o.Raised
	s.Cut += o.Cut
	s.Latencies = s.Latencies.Add(o.Latencies)
	s.QueueWaits = s.QueueWaits.Add(o.QueueWaits)
	if s.Refused == nil {
		s.Refused = map[Reason]uint64{}
	}
	for reason, n := range o.Refused {
		s.Refused[reason] += n
	}
}
