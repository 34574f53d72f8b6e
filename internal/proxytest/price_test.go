package proxytest

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// contenders returns the proxies before an upstream. Weir and Envoy have limits that never refuse
// here, the others have no limits. The first is the baseline.
func contenders(t *testing.T, to peer) []peer {
	all := []peer{startPlain(t, to), startWeir(t, to, "--law", "fixed(1000)"), startNginx(t, to, 0), startHAProxy(t, to, 0, time.Minute)}
	if hasEnvoy() {
		all = append(all, startEnvoy(t, to, envoyRoom))
	}
	return all
}

// TestPriceOfCPU prints the processor time of a request, by the size of its answer and the
// number of connections.
func TestPriceOfCPU(t *testing.T) {
	measure(t)
	up := startUpstream(t, upstream{})
	peers := contenders(t, up)
	const during, rounds = 5 * time.Second, 5
	for _, size := range []int{1 << 10, 1 << 20} {
		for _, connections := range []int{1, 32, 256} {
			t.Run(fmt.Sprintf("%dKB/%d", size>>10, connections), func(t *testing.T) {
				times := map[string][]float64{}
				for range rounds {
					for _, p := range peers {
						times[p.name] = append(times[p.name], cpuPerRequest(t, p, size, connections, during))
					}
				}
				tb := newTable(t, fmt.Sprintf("CPU per request, %d bytes, concurrency %d, medians of %d", size, connections, rounds),
					"proxy", "µs", "of ReverseProxy")
				for _, p := range peers {
					tb.row(p.name, median(times[p.name]), median(pairwise(times[p.name], times[peers[0].name])))
				}
			})
		}
	}
}

func pairwise[T float64 | time.Duration](a, b []T) (ratios []float64) {
	for i := range a {
		ratios = append(ratios, float64(a[i])/float64(b[i]))
	}
	return ratios
}

var (
	wrkRequests = regexp.MustCompile(`(\d+) requests in`)
	wrkRefused  = regexp.MustCompile(`Non-2xx or 3xx responses: (\d+)`)
)

// cpuPerRequest is in microseconds.
func cpuPerRequest(t *testing.T, p peer, size, connections int, during time.Duration) float64 {
	url := fmt.Sprintf("%s/bytes?n=%d", p.url, size)
	wrk := func(during time.Duration) (requests float64) {
		text, err := exec.Command(installed(t, "wrk"), "-t", "1", "-c", strconv.Itoa(connections),
			"-d", fmt.Sprintf("%ds", max(1, int(during.Seconds()))), "--timeout", "10s", url).CombinedOutput()
		m := wrkRequests.FindSubmatch(text)
		if err != nil || m == nil {
			t.Fatalf("wrk: %v\n%s", err, text)
		}
		if refused := wrkRefused.Find(text); refused != nil {
			t.Errorf("%s: %s, which cost less than answers", p.name, refused)
		}
		requests, _ = strconv.ParseFloat(string(m[1]), 64)
		return requests
	}
	wrk(time.Second) // opens the connections and lets weir find its limit
	before := p.cpu(t)
	requests := wrk(during)
	if requests == 0 {
		t.Fatalf("%s answered nothing", p.name)
	}
	return (p.cpu(t) - before).Seconds() * 1e6 / requests
}

func TestPriceOfLatency(t *testing.T) {
	measure(t)
	up := startUpstream(t, upstream{})
	peers := append([]peer{up}, contenders(t, up)...)
	const during, rounds, rate = 10 * time.Second, 5, 2000.
	p50, p99 := map[string][]time.Duration{}, map[string][]time.Duration{}
	for round := range rounds {
		for _, p := range peers {
			answers := openLoop{
				rate: rate, during: during, timeout: 5 * time.Second, seed: uint64(round), request: gets(t, p.url+"/bytes?n=1024"),
			}.run(t.Context())
			p50[p.name] = append(p50[p.name], quantile(answers, 0.5))
			p99[p.name] = append(p99[p.name], quantile(answers, 0.99))
		}
	}
	tb := newTable(t, fmt.Sprintf("latency at %.0f requests a second, 1 KB, medians of %d", rate, rounds), "proxy", "p50", "p99", "p99 of ReverseProxy")
	for _, p := range peers {
		tb.row(p.name, median(p50[p.name]), median(p99[p.name]), median(pairwise(p99[p.name], p99[peers[1].name])))
	}
}
