package sim

import (
	"math"
	"slices"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/law"
)

// The oracle of a shared system knows more than any limiter: which limiters have started, and the
// future demand of each. It splits its total among the started limiters by max-min fairness: a
// limiter that needs less than an equal share gets all that it needs.

// A stretch is a period of one phase in which no limiter starts. It has the need of each limiter in
// that period.
type stretch struct {
	from   time.Duration
	needs  []float64 // 0 for a limiter that has not started, or has a constant limit
	limits []int     // under the current total
}

func (s *Scenario) stretches(seed uint64) []stretch {
	times := []time.Duration{0}
	end := time.Duration(0)
	for _, p := range s.Phases {
		end += p.Length
		times = append(times, end)
	}
	for i := range s.Limiters {
		times = append(times, min(s.starts(int32(i)), end))
	}
	slices.Sort(times)
	times = slices.Compact(times)
	list := make([]stretch, len(times)-1)
	for i := range list {
		list[i] = stretch{from: times[i], needs: make([]float64, s.Limiters)}
	}
	s.bring(list, seed)
	for i := range list {
		list[i].need(s, times[i+1]-times[i])
	}
	return list
}

// bring adds up the service times of the requests that each limiter receives in each stretch.
func (s *Scenario) bring(list []stretch, seed uint64) {
	i := 0
	t := newTraffic(s, seed)
	for t.advance(); t.next.at >= 0 && t.next.at != Never; t.advance() {
		for i < len(list)-1 && t.next.at >= list[i+1].from {
			i++
		}
		list[i].needs[t.next.limiter] += mul(float64(t.next.work), float64(s.Clients[t.next.client].Weight))
	}
}

// need converts work to the concurrency that each limiter needs: the mean, and room for its
// variation and for the heaviest request.
func (t *stretch) need(s *Scenario, length time.Duration) {
	heaviest := 1
	for _, c := range s.Clients {
		heaviest = max(heaviest, c.Weight)
	}
	for i, work := range t.needs {
		load := work / float64(length)
		t.needs[i] = float64(heaviest) + load + 2*math.Sqrt(load)
		if s.pinned(i) > 0 || s.starts(int32(i)) > t.from {
			t.needs[i] = 0
		}
	}
}

func (e *engine) nextStretch() time.Duration {
	if len(e.stretches) == 0 {
		return Never
	}
	return e.stretches[0].from
}

// allot sets the limits of the stretch that begins.
func (e *engine) allot() {
	limits := e.stretches[0].limits
	e.stretches = e.stretches[1:]
	for i, limit := range limits {
		if limit == 0 {
			continue
		}
		e.fx = admit.Effects{}
		fixed := law.Fixed{Limit: limit}
		if err := e.nodes[i].Update(e.scenario.Limiter.settings(), fixed, int64(e.now), &e.fx); err != nil {
			e.broken = err
		}
		e.after(int32(i))
	}
}
