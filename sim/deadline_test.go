package sim

import (
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// meanLimit returns the mean of the limit after ten seconds.
func meanLimit(t *testing.T, s Scenario, l law.Law) float64 {
	t.Helper()
	result := must.Have(Run(s, l, 1))(t)
	sum, n := 0.0, 0.0
	for _, p := range result.Series {
		if p.At > 10*time.Second {
			sum, n = sum+float64(p.Limit), n+1
		}
	}
	return sum / n
}

func overloaded(clients ...Client) Scenario {
	return Scenario{
		Arrivals: Poisson{Rate: 800}, Work: Exponential{Mean: 50 * ms}, Server: WorkerPool{Workers: 20}, SLO: 70 * ms,
		Clients: clients, Phases: []Phase{{Length: time.Minute}},
	}
}

// A deadline on all requests is the budget, and an explicit budget takes precedence.
func TestDeadlinesAreTheBudget(t *testing.T) {
	untold, carried := overloaded(Client{}), overloaded(Client{Deadlines: true})
	budget := law.Setpoint{Budget: 70 * ms}
	told := meanLimit(t, untold, budget)
	if free := meanLimit(t, untold, law.Setpoint{}); free < 1.1*told {
		t.Fatalf("the limit is %.1f with the budget and %.1f without: the test needs a difference", told, free)
	}
	if got := meanLimit(t, carried, law.Setpoint{}); math.Abs(got-told) > 0.03*told {
		t.Errorf("the limit is %.1f where the work carries deadlines, want %.1f as with the budget", got, told)
	}
	carried.Clients[0].SLO = time.Hour
	if got := meanLimit(t, carried, budget); math.Abs(got-told) > 0.03*told {
		t.Errorf("the limit is %.1f with a budget and long deadlines, want %.1f", got, told)
	}
}

// Deadlines that no work can meet, and deadlines on only a few requests, change nothing.
func TestDeadlinesThatDoNotCount(t *testing.T) {
	kinds := func(carry bool) Scenario {
		return overloaded(Client{Share: 60, SLO: ms, Deadlines: carry}, Client{Share: 10, SLO: time.Hour, Deadlines: carry}, Client{Share: 30})
	}
	with, without := meanLimit(t, kinds(true), law.Setpoint{}), meanLimit(t, kinds(false), law.Setpoint{})
	t.Logf("the limit is %.2f, without deadlines %.2f", with, without)
	if math.Abs(with/without-1) > 0.1 {
		t.Errorf("the limit is %.1f, want %.1f as without deadlines", with, without)
	}
}
