package sim

import (
	"flag"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

var without = flag.String("without", "", "a move of the law that TestHazards leaves out, to print its worth")

// A hazard is a system on which a limiter with default settings once did harm.
type hazard struct {
	name   string
	system Scenario

	// suits is a constant limit that suits the server if neither no limit nor 20 does. 0
	// means that there is none.
	suits int

	// keeps is the share of the best of them that Setpoint keeps, in percent, in each
	// phase after the start on the worst of the seeds: slightly less than it reaches.
	// Raise it when the law improves, up to harmTarget. It is 0 for a phase in which no
	// request can be answered.
	keeps []float64
}

const (
	hazardSeeds = 3

	// harmTarget is the share to keep everywhere, in percent.
	harmTarget = 97
)

// TestHazards checks that the default law keeps most of the good answers wherever no limit
// or a constant one does well.
func TestHazards(t *testing.T) {
	longtest.Skip(t)
	for _, h := range hazards() {
		h.system.Name = h.name
		worst := []float64{100, 100, 100}[:len(h.keeps)]
		for seed := uint64(1); seed <= hazardSeeds; seed++ {
			for phase, kept := range h.kept(t, seed) {
				worst[phase] = min(worst[phase], kept)
				if kept < h.keeps[phase] && *without == "" {
					t.Errorf("%s, seed %d: keeps %.1f%% in phase %d after the start, want at least %v%%",
						h.name, seed, kept, phase+1, h.keeps[phase])
				}
			}
		}
		t.Logf("%s: keeps %.1f%%, at least %v%% is held, the target is %d%%", h.name, worst, h.keeps, harmTarget)
	}
}

// kept returns the share that Setpoint keeps in each phase after the start, in percent.
func (h *hazard) kept(t *testing.T, seed uint64) (shares []float64) {
	t.Helper()
	baseline := must.Have(BaselineOf(h.system, seed))(t)
	result := mustRun(t, h.system, law.Setpoint{Without: *without}, seed)
	compared := must.Have(baseline.Compare(result))(t)
	suited := h.suited(t, seed)
	for i, good := range compared.Good {
		if result.Phases[i].Start >= h.system.Start {
			shares = append(shares, percent(good, max(suited[i], compared.Possible[i].Possible())))
		}
	}
	return shares
}

// suited returns the good answers under the suitable limit, by the phase of their arrival.
func (h *hazard) suited(t *testing.T, seed uint64) []int {
	t.Helper()
	good := make([]int, len(h.system.Phases))
	if h.suits == 0 {
		return good
	}
	s := h.system
	s.Limiter = Limiter{Initial: h.suits, Max: noLimit}
	for i, p := range mustRun(t, s, law.Fixed{}, seed).Phases {
		good[i] = p.Answered
	}
	return good
}

// The first fifteen pieces of work were quick by chance, so that the law takes the latency of an
// idle server for that of a queue.
func TestChanceDoesNotHoldTheLimit(t *testing.T) {
	r := mustRun(t, Scenario{
		Arrivals: Poisson{Rate: 80}, Work: Exponential{Mean: 3 * time.Second}, Server: Sharing{Cores: 200}, SLO: 18 * time.Second,
		Phases: []Phase{{Length: 3 * time.Minute}, {Length: 3 * time.Minute}},
	}, law.Setpoint{}, 6)
	if good, possible := float64(r.Phases[1].Good), 180*200/3.0; good < 0.9*possible {
		t.Errorf("goodput %.2f of the capacity, want most", good/possible)
	}
}

// A server of 13 cores becomes slower by three, and its calls time out. A probe then has nine
// completions where ten are good.
func TestProbesOfLittleWorkTeach(t *testing.T) {
	r := mustRun(t, Scenario{
		Arrivals: Poisson{Rate: 131.549}, Work: Exponential{Mean: 98820 * time.Microsecond}, Server: Sharing{Cores: 13},
		SLO: 1039680 * time.Microsecond, Clients: []Client{{Cancel: true}},
		Phases: []Phase{{Length: 28 * time.Second, Load: 0.693}, {Length: 22 * time.Second, Load: 1.067, Speed: 0.764}, {Length: 23 * time.Second, Load: 2.365, Speed: 0.322}},
	}, law.Setpoint{}, 5)
	if good, possible := float64(r.Phases[2].Good), 23*13*0.322/0.09882; good < 0.65*possible {
		t.Errorf("goodput %.2f of the capacity, want most", good/possible)
	}
}

// A server pauses before any of its limiters has reached its limit, and an overload follows. No
// limiter takes the pause for slower work, and climbs until the server thrashes.
func TestPauseBeforeTheLimitWasReached(t *testing.T) {
	after := mustRun(t, Scenario{
		Arrivals: Poisson{Rate: 2400}, Work: Exponential{Mean: 5 * ms}, SLO: 500 * ms, Limiters: 16,
		Server:  Curve(func(n float64) float64 { return min(1, 20/n, 1200/(n*n)) }),
		Clients: []Client{{Retry: Retry{Times: 2, Backoff: 50 * ms}}},
		Phases: []Phase{
			{Length: 5 * time.Second, Load: 0.3},
			{Length: 2 * time.Second, Load: 0.3, Pause: Pause{Every: 2 * time.Second, For: time.Second}},
			{Length: 10 * time.Second, Load: 1.8},
		},
	}, law.Setpoint{}, 1).Phases[2]
	if share := float64(after.Good) / float64(after.Requests); share < 0.75 {
		t.Errorf("%.0f%% of the requests after a pause were good, want about 85", 100*share)
	}
}
