package check

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/law"
	"pgregory.net/rapid"
)

// While a node waits that runs no more than its reserve, another one with the share s
// to its own 1 gets at most s+1 slots beyond its entitlement.
func TestHierarchyStarvesNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &hierarchy{T: t, cap: rapid.IntRange(1, 8).Draw(t, "cap")}
		h.group = admit.NewGroup(h.cap)
		for range rapid.IntRange(2, 6).Draw(t, "nodes") {
			h.addGreedy()
		}
		passed := map[[2]*party]int{} // how often the second was served while the first waited
		h.dispatched = func(served *party) {
			for _, p := range h.parties {
				pair := [2]*party{p, served}
				switch {
				case p == served:
					for _, other := range h.parties {
						passed[[2]*party{p, other}] = 0
					}
				case len(p.queue) == 0 || p.inFlight > p.reserved:
					passed[pair] = 0
				case float64(served.inFlight+1) > served.entitled(served)+slack:
					passed[pair]++
					if most := served.share/p.share + 1; float64(passed[pair]) > most+slack {
						h.Fatalf("passed over %d times for a share of %v to %v: %s", passed[pair], served.share, p.share, h.describe())
					}
				}
			}
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
