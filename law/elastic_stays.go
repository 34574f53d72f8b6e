package law

import (
	"math"

	"github.com/weir-go/weir/internal/portable"
)

// Some work may hold its slots for a thousand times as long as the rest takes, such as an export
// among searches, or calls that hang. A few of it fill a limit, and the throughput falls to nothing
// while the server has room. Such a window is no point on the curve. What ends in it tells: if that
// is as quick as ever, there is no queue.

const (
	// longStay is the latency by Little's law, in mean latencies of the work that began and ended
	// in the window, from which the slots are held by work that did neither.
	longStay = 4
	// asEver is by which factor that mean may differ from what it is while the limit is not
	// reached.
	asEver = 1.5
	// roomForStays is the growth of a limit that long stays fill. One request in a hundred that
	// takes 5 s and not 5 ms left 38% of the goodput that a limit of 60 had, and leaves 99.9% now.
	roomForStays = 1.1
)

// observeUsual learns how long work takes that begins and ends in a window.
func (c *elasticController) observeUsual(w Window, f flow) {
	mean := w.Mean.Seconds()
	switch {
	case f.saturated || mean <= 0:
	case c.usual == 0:
		c.usual = mean
	default:
		c.usual = portable.Toward(c.usual, mean, 0.2)
	}
}

// occupied reports whether long stays hold the slots. It takes a window without failures, without
// much work of before, and without a flood: with them an overload can look alike. Without all three
// the worst of 60 systems kept 12% and not 68% (weir sim suite --harm 60 --seed 301).
func (c *elasticController) occupied(w Window, f flow) bool {
	mean := w.Mean.Seconds()
	quick := mean > 0 && mean < asEver*c.usual && c.usual < asEver*mean
	fresh := f.ended == f.done && 4*w.Carried <= w.Samples && !f.flooding
	return quick && fresh && f.latency > longStay*mean
}

// makeRoom answers a window whose slots long stays hold: the limit never falls, and rises if it
// was reached.
func (c *elasticController) makeRoom(w Window, f flow, d Decision) Decision {
	from := c.resumed(w, d.Limit)
	d.Limit = from
	if f.saturated {
		d.Limit = within(math.Ceil(from*roomForStays), w)
	}
	d.Reason = lean(Average, w.Mean.Seconds(), asEver*c.usual, from, d.Limit)
	d.Next.MinSamples = enoughDone
	return d
}
