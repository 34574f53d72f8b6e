package proxytest

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/weirhttp"
)

// An api refuses requests beyond a limit that its clients do not know.
type api struct {
	name  string
	rate  bool // it counts requests a second
	start func(t testing.TB, to peer) peer
}

// The APIs do 20 requests of 50 ms at a time, or the same number in a second.
var apis = []api{
	{"nginx, limit_conn 20", false, func(t testing.TB, to peer) peer { return startNginx(t, to, 20) }},
	{"nginx, limit_req 400r/s", true, func(t testing.TB, to peer) peer {
		return startNginxWith(t, to, "limit_req_zone $server_name zone=rate:1m rate=400r/s;", "limit_req zone=rate burst=40 nodelay;")
	}},
	{"weir proxy, fixed(20)", false, func(t testing.TB, to peer) peer { return startWeir(t, to, "--law", "fixed(20)", "--queue", "0") }},
}

// limited has n limiters with their defaults take turns.
func limited(n int) func(http.RoundTripper) http.RoundTripper {
	gates := make([]weirhttp.Gate, n)
	for i := range gates {
		gates[i] = weir.Must(weir.New(weir.Config{}))
	}
	var turn atomic.Uint64
	return func(base http.RoundTripper) http.RoundTripper {
		return weirhttp.Transport(base, func(*http.Request) weirhttp.Gate { return gates[turn.Add(1)%uint64(n)] })
	}
}

// TestPushback prints how many of the requests that clients send to an API at twice its limit are
// refused there, and the goodput. A short trial wants few refusals.
func TestPushback(t *testing.T) {
	trial(t)
	const capacity, settled = 400, 3 * time.Second
	during, repeats := either(23*time.Second, 8*time.Second), either(3, 1)
	tb := newTable(t, "refused share of the sent requests, and good answers as a share of the capacity, from second 3 on",
		"API", "client", "refused", "good")
	for _, a := range apis {
		for _, limiters := range []int{0, 1, 8} {
			var shares, goods []float64
			for seed := range repeats {
				t.Run("", func(t *testing.T) { // so that its processes end
					p := a.start(t, startUpstream(t, upstream{workers: 1000, least: 50 * time.Millisecond}))
					l := openLoop{rate: 2 * capacity, during: during, timeout: time.Second, seed: uint64(seed), request: gets(t, p.url+"/work")}
					if limiters > 0 {
						l.through = limited(limiters)
					}
					answers := l.run(t.Context())
					shares = append(shares, refusedThere(answers, settled))
					goods = append(goods, float64(good(answers, settled, during))/(capacity*(during-settled).Seconds()))
				})
			}
			tb.row(a.name, clientsNamed[limiters], median(shares), median(goods))
			keeps := limiters > 0 && (limiters == 1 || !a.rate) // no limit of concurrency keeps a rate
			if keeps && !full() && median(shares) > 0.3 {
				t.Errorf("%s: %.2f of the sent requests are refused, want few", a.name, median(shares))
			}
		}
	}
}

var clientsNamed = map[int]string{0: "no limiter", 1: "a limiter", 8: "eight limiters"}

// refusedThere is the share of sent requests that the API refused, from a moment on.
func refusedThere(answers []answer, from time.Duration) float64 {
	sent, refused := 0.0, 0.0
	for _, a := range answers {
		if a.due < from || errors.Is(a.err, weir.ErrRefused) {
			continue
		}
		sent++
		if a.status == http.StatusServiceUnavailable || a.status == http.StatusTooManyRequests {
			refused++
		}
	}
	return refused / sent
}
