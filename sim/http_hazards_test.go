package sim

import (
	"testing"
	"time"
)

// TestSameHarmOnHTTP is [TestSameOrderOnHTTP] for situations in which limiters do harm:
// bursts, replicas and long work, with a limiter that has default settings except for its
// law. A round takes five minutes:
//
//	go test ./sim -run SameHarmOnHTTP -v -timeout 30m -http 1
func TestSameHarmOnHTTP(t *testing.T) {
	if *httpRounds == 0 {
		t.Skip("without -http")
	}
	var contests []*contest
	for _, s := range httpHazards() {
		contests = append(contests, newContest(t, s, "fixed(20)", "fixed(200)", "gradient", "setpoint"))
	}
	compete(t, contests)
}

// httpHazards returns scenarios of a minute, small enough for two busy cores: a fan-out on
// an idle server, four limiters that start in the midst of an overload, and work that takes
// a second.
func httpHazards() []Scenario {
	minute := []Phase{{Length: time.Minute}}
	return []Scenario{
		{
			Name: "bursts", Arrivals: Batches{Rate: 2, Size: 40}, Work: Exponential{Mean: 50 * ms},
			Server: WorkerPool{Workers: 1000}, SLO: 500 * ms, Phases: minute,
		},
		{
			Name: "replicas", Arrivals: Poisson{Rate: 300}, Work: Exponential{Mean: 50 * ms},
			Server: WorkerPool{Workers: 10}, SLO: 400 * ms, Limiters: 4, Phases: minute,
		},
		{
			Name: "long", Arrivals: Poisson{Rate: 24}, Work: Lognormal{Mean: time.Second, CV: 0.74},
			Server: WorkerPool{Workers: 16}, SLO: 7 * time.Second, Phases: minute,
		},
	}
}
