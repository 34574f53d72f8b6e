package proxytest

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

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
				answers := openLoop{
					rate: 2 * u.capacity(), during: during, timeout: deadline, seed: uint64(seed),
					request: inTurns(t, startUpstream(t, u), n),
				}.run(t.Context())
				shares = append(shares, float64(good(answers, settled, during))/u.capacity()/(during-settled).Seconds())
				fair = append(fair, fairness(answers, n))
			})
		}
		tb.row(n, median(shares), minimum(shares), median(fair))
		if !full() && minimum(shares) < 0.6 {
			t.Errorf("%d proxies: %.2f of the capacity is done in time, want most of it", n, minimum(shares))
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
