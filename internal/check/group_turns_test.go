package check

import (
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/law"
	"pgregory.net/rapid"
)

// While a node with share 1 waits and uses no more than its reserve, another node with share
// s gets at most s+1 slots beyond its entitlement; while the waiting node would stay within
// its entitlement, the other gets at most one slot with an equal right.
func TestHierarchyStarvesNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &hierarchy{T: t, cap: rapid.IntRange(1, 8).Draw(t, "cap")}
		h.group = admit.NewGroup(h.cap)
		for range rapid.IntRange(2, 6).Draw(t, "nodes") {
			h.addGreedy()
		}
		waits := map[*party]*passed{}
		for _, p := range h.parties {
			waits[p] = newPassed()
		}
		h.dispatched = func(served *party) {
			for _, p := range h.parties {
				if p != served && len(p.queue) > 0 {
					waits[p].over(p, served)
				}
			}
			waits[served] = newPassed()
		}
		h.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { h.T = t; h.check() },
			"pass": func(t *rapid.T) {
				h.T = t
				p := h.parties[rapid.IntRange(0, len(h.parties)-1).Draw(t, "node")]
				p.done()
				for len(p.queue) < rapid.IntRange(0, 4).Draw(t, "waiting") {
					p.join(1)
				}
			},
		})
	})
}

// passed counts how often other parties were served since a party was.
type passed struct{ byTurn, byRight map[*party]int }

func newPassed() *passed { return &passed{map[*party]int{}, map[*party]int{}} }

// over records that p waits while the other is served.
func (w *passed) over(p, served *party) {
	mine, theirs := candidate{p, 1}, candidate{served, 1}
	most := float64(1)
	count := w.byRight
	switch {
	case theirs.within(p) && mine.within(p) && math.Abs(mine.held(1)-theirs.held(1)) < slack:
	case !theirs.within(p) && p.inFlight <= p.reserved:
		most, count = served.share/p.share+1, w.byTurn
	default:
		return
	}
	count[served]++
	if float64(count[served]) > most+slack {
		p.Fatalf("passed over %d times for a share of %v to %v: %s", count[served], served.share, p.share, p.describe())
	}
}

func (h *hierarchy) addGreedy() {
	p := &party{hierarchy: h, limit: 100, size: 10, timeout: time.Hour}
	p.share = rapid.SampledFrom([]float64{1, 1, 2, 0.5, 4}).Draw(h.T, "share")
	_, reserved, _ := h.total()
	p.reserved = rapid.IntRange(0, min(1, h.cap-reserved)).Draw(h.T, "reserved")
	var err error
	p.Node, err = admit.New(p.settings(), law.Fixed{}, h.group, 0)
	if err != nil {
		h.Fatal(err)
	}
	h.parties = append(h.parties, p)
}
