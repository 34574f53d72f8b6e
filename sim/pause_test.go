package sim_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

// A server pauses before any of its limiters has reached its limit, and an overload follows. No
// limiter takes the pause for slower work, and climbs until the server thrashes.
func TestPauseBeforeTheLimitWasReached(t *testing.T) {
	result := must.Have(sim.Run(sim.Scenario{
		Server:   sim.Curve(func(n float64) float64 { return min(1, 20/n, 1200/(n*n)) }),
		Work:     sim.Exponential{Mean: 5 * time.Millisecond},
		Arrivals: sim.Poisson{Rate: 2400},
		SLO:      500 * time.Millisecond,
		Limiters: 16,
		Clients:  []sim.Client{{Retry: sim.Retry{Times: 2, Backoff: 50 * time.Millisecond}}},
		Phases: []sim.Phase{
			{Length: 5 * time.Second, Load: 0.3},
			{Length: 2 * time.Second, Load: 0.3, Pause: sim.Pause{Every: 2 * time.Second, For: time.Second}},
			{Length: 10 * time.Second, Load: 1.8},
		},
	}, law.Setpoint{}, 1))(t)
	after := result.Phases[2]
	if share := float64(after.Good) / float64(after.Requests); share < 0.75 {
		t.Errorf("%.0f%% of the requests after a pause were good, want about 85", 100*share)
	}
}
