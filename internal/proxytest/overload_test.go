package proxytest

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/longtest"
)

// deadline is the latest useful time for an answer; clients then leave.
const deadline = time.Second

// systems are the upstreams of the overload trials. The widest has longer work; otherwise two
// processors could not generate three times its capacity.
var systems = []upstream{
	{5, 50 * time.Millisecond, 100 * time.Millisecond},
	{20, 50 * time.Millisecond, 100 * time.Millisecond},
	{64, 50 * time.Millisecond, 100 * time.Millisecond},
	{500, 300 * time.Millisecond, 600 * time.Millisecond},
}

type guard struct {
	name  string
	start func(t testing.TB, to peer) peer
}

var (
	unguarded = guard{"direct", func(_ testing.TB, to peer) peer { return to }}
	byDefault = guard{"weir", func(t testing.TB, to peer) peer { return startWeir(t, to) }}
)

// byHand is HAProxy with a maxconn that is a fraction of the upstream's workers. Requests may
// wait for half of the time between the deadline and the longest work: under overload nearly
// all do.
func byHand(u upstream, fraction float64) guard {
	maxconn := max(1, int(math.Round(fraction*float64(u.workers))))
	return guard{fmt.Sprintf("HAProxy maxconn %d", maxconn), func(t testing.TB, to peer) peer {
		return startHAProxy(t, to, maxconn, (deadline-u.most)/2)
	}}
}

// byConnections is nginx, which cannot queue.
func byConnections(u upstream) guard {
	return guard{fmt.Sprintf("nginx limit_conn %d", u.workers), func(t testing.TB, to peer) peer {
		return startNginx(t, to, u.workers)
	}}
}

// before starts an upstream with the guard before it, for the time of a call.
func (g guard) before(t *testing.T, u upstream, call func(t *testing.T, p, up peer)) {
	t.Helper()
	t.Run("", func(t *testing.T) { // so that its processes end
		up := startUpstream(t, u)
		call(t, g.start(t, up), up)
	})
}

// times is a load of a multiple of the upstream's capacity, by clients that leave at the deadline.
func (u upstream) times(multiple float64, during time.Duration, seed uint64, request func(int) *http.Request) openLoop {
	return openLoop{rate: multiple * u.capacity(), during: during, timeout: deadline, seed: seed, request: request}
}

// share is the part of the upstream's capacity between two moments that was answered well.
func (u upstream) share(answers []answer, from, to time.Duration) float64 {
	return float64(good(answers, from, to)) / u.capacity() / (to - from).Seconds()
}

// storm sends a multiple of the upstream's capacity, from a cold start. It returns the
// goodput of each second as a share of the capacity.
func storm(t *testing.T, u upstream, g guard, times float64, seed uint64, during time.Duration) (shares []float64) {
	t.Helper()
	g.before(t, u, func(t *testing.T, p, _ peer) {
		answers := u.times(times, during, seed, gets(t, p.url+"/work")).run(t.Context())
		for from := time.Duration(0); from < during; from += time.Second {
			shares = append(shares, u.share(answers, from, from+time.Second))
		}
	})
	return shares
}

func mean(values []float64) (m float64) {
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}

// reached is the first second, counted from 1, from which the mean goodput of three seconds
// is at least the given share.
func reached(shares []float64, atLeast float64) int {
	for i := range shares {
		if mean(shares[i:min(i+3, len(shares))]) >= atLeast {
			return i + 1
		}
	}
	return never
}

const never = math.MaxInt

// TestOverload prints the share of its capacity that an upstream does in time under overload.
func TestOverload(t *testing.T) {
	measure(t)
	const during, seeds = 30 * time.Second, 5
	const settled = 10 // the seconds of the cold start, which are not counted
	for _, u := range systems {
		t.Run(fmt.Sprintf("knee=%d", u.workers), func(t *testing.T) {
			hand := bestByHand(t, u, during, settled)
			for _, times := range []float64{1, 1.5, 3} {
				tb := newTable(t, fmt.Sprintf("goodput within %v as a share of the capacity, %d workers, %.0f/s, %g times that",
					deadline, u.workers, u.capacity(), times),
					"guard", fmt.Sprintf("from second %d", settled+1), "least of the seeds", "0.95 from second (worst)")
				for _, g := range []guard{unguarded, byDefault, hand, byConnections(u)} {
					var steady []float64
					worst := 0
					for seed := range seeds {
						shares := storm(t, u, g, times, uint64(seed), during)
						steady = append(steady, mean(shares[settled:]))
						worst = max(worst, reached(shares, 0.95))
						t.Logf("%s, %g times, seed %d: %.2f", g.name, times, seed, shares)
					}
					tb.row(g.name, median(steady), slices.Min(steady), second(worst))
				}
			}
		})
	}
}

func second(n int) string {
	if n == never {
		return "never"
	}
	return fmt.Sprint(n)
}

// bestByHand finds the maxconn with the best goodput of HAProxy at three times the capacity,
// with a seed other than the comparison's.
func bestByHand(t *testing.T, u upstream, during time.Duration, settled int) (best guard) {
	most := -1.
	for _, fraction := range []float64{0.8, 1, 1.25, 2} {
		g := byHand(u, fraction)
		share := mean(storm(t, u, g, 3, 100, during)[settled:])
		t.Logf("%s: %.3f", g.name, share)
		if share > most {
			best, most = g, share
		}
	}
	return best
}

// TestRecovery prints the goodput before, during and after a time in which the upstream runs at
// 30% of its speed, under one and a half times the load that it does at full speed. A short trial
// checks the goodput after.
func TestRecovery(t *testing.T) {
	trial(t)
	const slow = 0.3
	// The default law has a tick each 4 s. One of them falls into the time to settle.
	phase, settled, seeds := either(15*time.Second, 7*time.Second), 5*time.Second, either(8, 1)
	u := tenWorkers
	tb := newTable(t, fmt.Sprintf("goodput within %v as a share of the capacity then, at %.0f requests a second, medians of %d and the least; phases of %v without their first %v",
		deadline, 1.5*u.capacity(), seeds, phase, settled),
		"guard", "full speed", "30%", "full speed again", "the least")
	for _, g := range either([]guard{byDefault, byHand(u, 1)}, []guard{byDefault}) {
		var before, during, after []float64
		for seed := range seeds {
			g.before(t, u, func(t *testing.T, p, up peer) {
				load := u.times(1.5, 3*phase, uint64(seed), gets(t, p.url+"/work"))
				var answers []answer
				var loop sync.WaitGroup
				loop.Go(func() { answers = load.run(t.Context()) })
				pause(phase)
				up.setSpeed(t, slow)
				pause(phase)
				up.setSpeed(t, 1)
				loop.Wait()
				share := func(n time.Duration, speed float64) float64 {
					return u.share(answers, n*phase+settled, (n+1)*phase) / speed
				}
				before, during, after = append(before, share(0, 1)), append(during, share(1, slow)), append(after, share(2, 1))
			})
		}
		tb.row(g.name, median(before), median(during), median(after), fmt.Sprintf("%.2f, %.2f, %.2f", slices.Min(before), slices.Min(during), slices.Min(after)))
		if least := slices.Min(after); !longtest.Full() && least < 0.6 {
			t.Errorf("%.2f of the capacity is done in time after the fault, want most of it", least)
		}
	}
}

func (p peer) setSpeed(t testing.TB, speed float64) {
	t.Helper()
	if status, text := get(t, fmt.Sprintf("%s/-/speed?of=%g", p.url, speed)); status != http.StatusOK {
		t.Fatalf("/-/speed: status %d: %s", status, text)
	}
}
