package sim

import (
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

var (
	shadowSeeds = flag.Int("shadow", 0, "seeds of TestShadowAgreesWithLive, with all laws and servers")
	shadowStart = flag.Float64("shadowstart", 0.5, "load of the first ten seconds of TestShadowAgreesWithLive")
)

// shadowOff is the largest difference, in points, between the share of requests that a
// limiter would refuse and the share that it does refuse.
const shadowOff = 3.0

// TestShadowAgreesWithLive checks that in shadow mode a limiter would refuse the share that
// a live one refuses, if throughput does not fall with load. Ten seconds run at half of the
// server's capacity, then ten at the load, and then it counts. The whole table takes two
// minutes:
//
//	scripts/all go test ./sim -run ShadowAgreesWithLive -v -shadow 10
//	scripts/all go test ./sim -run ShadowAgreesWithLive -v -shadow 10 -shadowstart 2
func TestShadowAgreesWithLive(t *testing.T) {
	longtest.Skip(t)
	laws := []string{"setpoint", "little", "gradient", "gradient2", "aimd(timeout=400ms)"}
	servers := shadowServers[:keepThroughput]
	if *shadowSeeds > 0 {
		laws = append(laws, "vegas", "band(target=200ms)", "pid(target=200ms)", "fixed 55", "fixed 20")
		servers = shadowServers
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	for i, server := range servers {
		fmt.Fprintf(w, "%s\t0.8x\t\t1.2x\t\t2x\t\t\n", server.name)
		for j, text := range laws {
			fmt.Fprintf(w, "%s\t", text)
			for _, load := range []float64{0.8, 1.2, 2} {
				live, shadow := server.refuses(t, load, text, false), server.refuses(t, load, text, true)
				fmt.Fprintf(w, "%.1f\t%+.1f\t", live, shadow-live)
				if i < keepThroughput && j < heldToLive && math.Abs(shadow-live) > shadowOff {
					t.Errorf("%s, %.1fx, %s: would refuse %.1f%%, refuses %.1f%%",
						server.name, load, text, shadow, live)
				}
			}
			fmt.Fprintln(w)
		}
	}
	w.Flush()
	t.Logf("refused of 100 requests by a live limiter, and points more by one in shadow mode:\n%s", &table)
}

type shadowServer struct {
	name   string
	server Server
	work   Work
	rate   float64 // its maximum rate per second
	queue  int     // in front of it
}

// shadowServers lists first the servers whose throughput does not fall with load. A shared
// server keeps its throughput only for exponential work: under a backlog that grows without
// bound it completes less constant work than it could, and more work of high variance,
// because long jobs never end.
var shadowServers = []shadowServer{
	{"pool", WorkerPool{Workers: 50}, Exponential{Mean: 50 * ms}, 1000, 0},
	{"pool, cv 2", WorkerPool{Workers: 50}, Lognormal{Mean: 50 * ms, CV: 2}, 1000, 0},
	{"pool, queue of 20", WorkerPool{Workers: 50}, Exponential{Mean: 50 * ms}, 1000, 20},
	{"sharing", Sharing{Cores: 50}, Exponential{Mean: 50 * ms}, 1000, 0},
	{"sharing, cv 2", Sharing{Cores: 50}, Lognormal{Mean: 50 * ms, CV: 2}, 1000, 0},
	{"sharing, cv 0", Sharing{Cores: 50}, Constant{Mean: 50 * ms}, 1000, 0},
	{"usl", USL{Alpha: 0.02, Beta: 0.0004}, Exponential{Mean: 50 * ms}, 300, 0},
}

const (
	keepThroughput = 4 // of the servers
	heldToLive     = 5 // of the laws
)

// refuses returns the percentage of requests that a limiter refuses or, in shadow mode,
// would refuse.
func (server shadowServer) refuses(t *testing.T, load float64, text string, shadow bool) float64 {
	t.Helper()
	s := Scenario{
		Name: server.name, Server: server.server, Work: server.work, Arrivals: Poisson{Rate: server.rate * load},
		SLO: 400 * ms, Limiter: Limiter{Shadow: shadow, Queue: Queue{Size: server.queue}},
		Phases: []Phase{
			{Length: 10 * time.Second, Load: *shadowStart / load},
			{Length: 10 * time.Second},
			{Length: 30 * time.Second},
		},
	}
	if limit, ok := strings.CutPrefix(text, "fixed "); ok {
		text = "fixed"
		fmt.Sscan(limit, &s.Limiter.Initial)
	}
	l := must.Have(law.Parse(text))(t)
	refused, requests := 0, 0
	for seed := range max(2, *shadowSeeds) {
		p := mustRun(t, s, l, uint64(seed+1)).Phases[2]
		refused += p.Refused + p.WouldRefuse
		requests += p.Requests
	}
	return 100 * float64(refused) / float64(requests)
}
