package proxytest

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/longtest"
)

// TestBursts prints how many requests of a burst are refused although an idle upstream has
// workers for them.
func TestBursts(t *testing.T) {
	trial(t)
	tb := newTable(t, "requests at once, every 5 s", "at once", "workers", "sent", "refused", "too late")
	for _, c := range []struct{ atOnce, workers int }{{30, 200}, {180, 200}, {300, 200}, {900, 1000}} {
		if !longtest.Full() && c.atOnce != 300 {
			continue
		}
		byDefault.before(t, upstream{c.workers, 50 * time.Millisecond, 50 * time.Millisecond}, func(t *testing.T, p, _ peer) {
			sent, refused, late := 0, 0, 0
			for burst := range either(6, 1) {
				if burst > 0 {
					pause(5 * time.Second)
				}
				const microsecond = 1e6 // one request in each
				answers := openLoop{
					rate: microsecond, during: time.Duration(c.atOnce) * time.Microsecond, timeout: 5 * time.Second,
					seed: uint64(burst), request: gets(t, p.url+"/work"),
				}.run(context.Background())
				for _, a := range answers {
					sent++
					switch {
					case !a.ok():
						refused++
					case a.latency > deadline:
						late++
					}
				}
			}
			tb.row(c.atOnce, c.workers, sent, refused, late)
			if refused > 0 {
				t.Errorf("%d of %d requests were refused before %d idle workers", refused, sent, c.workers)
			}
		})
	}
}

// suddenClients are command lines that open many connections at once, before a proxy that has
// just started, and the line in which they count bad answers. The commands of a group run in turn
// before the same proxy.
var suddenClients = []struct {
	commands []string
	refused  *regexp.Regexp
}{
	{[]string{"h2load -n 4000 -c 10 -m 20"}, regexp.MustCompile(`(\d+) 4xx, (\d+) 5xx`)},
	{[]string{"ab -n 4000 -c 200"}, regexp.MustCompile(`Non-2xx responses: +(\d+)`)},
	{[]string{"wrk -t 1 -c 1 -d 6s", "wrk -t 1 -c 32 -d 6s", "wrk -t 1 -c 256 -d 6s"}, wrkRefused},
}

// TestBurstsOfClients prints how many requests of clients in closed loops are refused although
// an idle upstream has workers for them.
func TestBurstsOfClients(t *testing.T) {
	trial(t)
	tb := newTable(t, "clients that come at once, 200 workers", "client", "refused")
	for _, c := range either(suddenClients, suddenClients[:1]) {
		byDefault.before(t, upstream{200, 50 * time.Millisecond, 50 * time.Millisecond}, func(t *testing.T, p, _ peer) {
			for _, command := range c.commands {
				args := strings.Fields(command)
				text, err := exec.Command(installed(t, args[0]), append(args[1:], p.url+"/work")...).CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%s", command, err, text)
				}
				refused := sumOfGroups(c.refused, text)
				tb.row(command, refused)
				if refused > 0 {
					t.Errorf("%s: %d requests were refused before idle workers", command, refused)
				}
			}
		})
	}
}

func sumOfGroups(of *regexp.Regexp, text []byte) (sum int) {
	for i, group := range of.FindSubmatch(text) {
		if i > 0 { // the first is the whole match
			n, _ := strconv.Atoi(string(group))
			sum += n
		}
	}
	return sum
}

// TestReplicas prints the goodput of an upstream at twice its capacity behind several proxies,
// each a process of its own, which do not know of each other.
func TestReplicas(t *testing.T) {
	trial(t)
	u := tenWorkers
	during, settled := either(35*time.Second, 10*time.Second), either(5*time.Second, 3*time.Second)
	tb := newTable(t, fmt.Sprintf("goodput within %v as a share of the capacity, at twice the capacity, from second %v on, medians of %d",
		deadline, settled, either(3, 1)),
		"proxies", "goodput", "the least", "fairness")
	for _, n := range either([]int{1, 4, 8}, []int{4}) {
		var shares, fair []float64
		for seed := range either(3, 1) {
			t.Run(fmt.Sprint(n), func(t *testing.T) { // so that its processes end
				answers := u.times(2, during, uint64(seed), inTurns(t, startUpstream(t, u), n)).run(t.Context())
				shares = append(shares, u.share(answers, settled, during))
				fair = append(fair, fairness(answers, n))
			})
		}
		tb.row(n, median(shares), slices.Min(shares), median(fair))
		if !longtest.Full() && slices.Min(shares) < 0.6 {
			t.Errorf("%d proxies: %.2f of the capacity is done in time, want most of it", n, slices.Min(shares))
		}
	}
}

// inTurns starts proxies in front of an upstream, and asks them in turns.
func inTurns(t *testing.T, up peer, proxies int) func(n int) *http.Request {
	t.Helper()
	requests := make([]func(int) *http.Request, proxies)
	for i := range requests {
		requests[i] = gets(t, startWeir(t, up).url+"/work")
	}
	return func(n int) *http.Request { return requests[n%proxies](n) }
}

// fairness is Jain's index of the good answers of proxies that are asked in turns.
func fairness(answers []answer, proxies int) float64 {
	each := make([]float64, proxies)
	for _, a := range answers {
		if a.ok() {
			each[a.n%proxies]++
		}
	}
	sum, squares := 0.0, 0.0
	for _, x := range each {
		sum, squares = sum+x, squares+x*x
	}
	return sum * sum / squares / float64(proxies)
}
