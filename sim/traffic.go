package sim

import "time"

// A request is sent by a client, in one or more attempts.
type request struct {
	at      time.Duration // of the first attempt
	work    time.Duration
	luck    float64       // the request fails in a phase with a greater share of errors
	slo     time.Duration // 0 for the SLO of the client
	client  int32
	limiter int32
}

type traffic struct {
	next request

	trace Trace // the remaining part, nil if requests are drawn

	scenario *Scenario
	rates    Rates
	spacer   Spacer        // rates, if it implements Spacer
	together bool          // the next request comes at the same instant as the last one
	rate     float64       // of arrivals per second, without the phase's load
	holds    time.Duration // end of that rate
	phase    int
	ends     time.Duration // of the phase

	left func() error // returns an error once the caller of the simulation has left

	arrivals, works, clients *Rand
}

// newTraffic returns the traffic before its first request.
func newTraffic(s *Scenario, seed uint64) traffic {
	t := traffic{
		scenario: s, trace: s.Trace, ends: s.Phases[0].Length, left: func() error { return nil },
		arrivals: NewRand(seed, arrivalStream), works: NewRand(seed, workStream), clients: NewRand(seed, clientStream),
	}
	if t.trace == nil {
		t.rates = s.Arrivals.Rates(NewRand(seed, rateStream))
		t.spacer, _ = t.rates.(Spacer)
	}
	return t
}

// advance moves to the next request of a limiter that has started. The time of custom arrivals may
// go back. A negative time ends the loop, and the engine refuses it.
func (t *traffic) advance() {
	t.draw()
	for t.next.at >= 0 && t.next.at < t.scenario.starts(t.next.limiter) {
		t.draw()
	}
}

// draw moves to the next request of any limiter.
func (t *traffic) draw() {
	if t.scenario.Trace != nil {
		t.replay()
		return
	}
	last, now := t.next, t.arrive()
	if t.together {
		t.next = request{at: now, client: last.client, limiter: last.limiter}
	} else {
		t.next = request{at: now, client: t.client()}
	}
	if now == Never {
		return
	}
	t.next.work = max(1, t.scenario.Phases[t.phase].Work.Draw(t.works))
	t.next.luck = t.works.Float64()
	if !t.together {
		t.next.limiter = t.limiter()
	}
}

// space returns the growth of the integral of the rate until the next arrival.
func (t *traffic) space() float64 {
	if t.spacer == nil {
		return t.arrivals.Exp()
	}
	space := t.spacer.Space()
	t.together = space == 0
	return space
}

func (t *traffic) arrive() time.Duration {
	now, wanted := t.next.at, t.space()
	if t.together {
		return now
	}
	for {
		if now >= t.ends {
			if t.phase++; t.phase == len(t.scenario.Phases) {
				return Never
			}
			t.ends += t.scenario.Phases[t.phase].Length
			continue
		}
		if now >= t.holds {
			// Any number of rates may come before the next request. A negative time ends the run.
			if t.rate, t.holds = t.rates.Next(now); t.holds < now || t.left() != nil {
				return -1
			}
			t.holds = max(t.holds, now+1)
		}
		until := min(t.holds, t.ends)
		perNanosecond := t.rate * t.scenario.Phases[t.phase].Load / float64(time.Second)
		if wait := wanted / perNanosecond; wait < float64(until-now) {
			return now + time.Duration(wait)
		}
		wanted -= mul(float64(until-now), perNanosecond)
		now = until
	}
}

func (t *traffic) client() int32 {
	shares := t.scenario.Phases[min(t.phase, len(t.scenario.Phases)-1)].Shares
	if len(shares) == 1 {
		return 0
	}
	return pick(t.clients, shares)
}

func (t *traffic) limiter() int32 {
	if shares := t.scenario.LimiterShares; shares != nil {
		return pick(t.clients, shares)
	}
	return int32(t.clients.N(t.scenario.Limiters))
}

// pick draws an index in proportion to the shares, never an index whose share is 0.
func pick(r *Rand, shares []float64) int32 {
	drawn, last := mul(r.Float64(), sum(shares)), 0
	below := 0.0
	for i, share := range shares {
		if below += share; drawn < below {
			return int32(i)
		}
		if share > 0 {
			last = i
		}
	}
	return int32(last)
}

// replay takes the next request from the trace.
func (t *traffic) replay() {
	if len(t.trace) == 0 {
		t.next = request{at: Never}
		return
	}
	a := t.trace[0]
	t.trace = t.trace[1:]
	t.next = request{at: a.At, work: max(1, a.Work), slo: a.Deadline, luck: t.works.Float64(), limiter: t.limiter()}
	for i, c := range t.scenario.Clients {
		if c.Name == a.Class {
			t.next.client = int32(i)
		}
	}
}
