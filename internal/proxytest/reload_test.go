package proxytest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// onceEach creates requests that no client or proxy may send twice: they are no GET, and each
// has a name.
func onceEach(t testing.TB, url string) func(int) *http.Request {
	t.Helper()
	return func(n int) *http.Request {
		// net/http does not know this type of reader, so the client cannot send it again.
		r, err := http.NewRequest(http.MethodPost, url, struct{ *strings.Reader }{strings.NewReader("body")})
		if err != nil {
			panic(err) // the first request checked the URL
		}
		r.ContentLength = 4
		r.Header.Set("Trial-Id", fmt.Sprint(n))
		return r
	}
}

// under runs happen under load and ends the load when happen returns. It returns the answers.
func under(t *testing.T, url string, rate float64, happen func()) []answer {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var (
		answers []answer
		loop    sync.WaitGroup
	)
	l := openLoop{rate: rate, during: time.Hour, timeout: 30 * time.Second, request: onceEach(t, url)}
	loop.Go(func() { answers = l.run(ctx) })
	happen()
	stop()
	loop.Wait()
	return answers
}

// account fails the test unless every request succeeded and reached an upstream exactly once.
func account(t *testing.T, answers []answer, upstreams ...peer) {
	t.Helper()
	seen := map[string]int{}
	for _, up := range upstreams {
		for id, times := range up.seen(t) {
			seen[id] += times
		}
	}
	failed, lost, double := 0, 0, 0
	for _, a := range answers {
		if !a.ok() {
			failed++
			if failed <= 5 {
				t.Logf("request %d, due after %v: status %d, %v", a.n, a.due, a.status, a.err)
			}
		}
		switch times := seen[fmt.Sprint(a.n)]; {
		case times == 0:
			lost++
		case times > 1:
			double++
		}
	}
	t.Logf("%d requests: %d failed, %d never seen by an upstream, %d seen twice", len(answers), failed, lost, double)
	if len(answers) == 0 || failed+lost+double > 0 {
		t.Error("want every request answered with 200 and seen once")
	}
}

// loaded is an upstream for a thousand requests a second, close to its capacity. A short
// trial sends a hundred, because other trials share the processors and no request may be
// refused.
var loaded = either(
	upstream{20, 10 * time.Millisecond, 30 * time.Millisecond},
	upstream{20, 100 * time.Millisecond, 300 * time.Millisecond},
)

// TestReload changes the file repeatedly under load, and waits until each change is applied.
func TestReload(t *testing.T) {
	trial(t)
	u := loaded
	up := startUpstream(t, u)
	p := newConfigured(t, up)
	// Each file has its own number. The limits stay above the load, so that no request is
	// refused.
	file := func(n int) (text, marker string) {
		marker = fmt.Sprint(20000 + n)
		return fmt.Sprintf(`compartments:
  api: {law: fixed, initial: %d, max: 1000, queue: {size: %d, timeout: 10s}}
routes:
  - {path: /, timeout: %ds}
  - {path: /reload/%d, priority: low}
streams: {max: %s}
`, 100+n%100, 500+n, 30+n%30, n, marker), marker
	}
	text, _ := file(0)
	p.write(t, text)
	p.start(t)
	var took []time.Duration
	answers := under(t, p.url+"/work", 0.8*u.capacity(), func() {
		for n := range either(400, 20) {
			text, marker := file(n + 1)
			p.write(t, text)
			began := time.Now()
			p.signal(t, syscall.SIGHUP)
			must.Happen(t, "the file is in force", func() bool { return p.applied(t, marker) })
			took = append(took, time.Since(began))
		}
	})
	account(t, answers, up)
	if _, metrics := get(t, p.admin+"/metrics"); !strings.Contains(metrics, fmt.Sprintf("reloads_total{result=\"applied\"} %d\n", len(took))) {
		t.Errorf("not one reload for each of %d changes:\n%s", len(took), metrics)
	}
	tb := newTable(t, "reloads by SIGHUP under load", "reloads", "requests", "median until in force")
	tb.row(len(took), len(answers), median(took))
}

// TestRestart restarts two proxies in turn behind HAProxy, which checks their readiness.
func TestRestart(t *testing.T) {
	trial(t)
	u := loaded
	up := startUpstream(t, u)
	var servers []string
	var proxies []*configured
	for range 2 {
		p := newConfigured(t, up)
		p.write(t, "shutdown: {wait: "+either("1s", "3s")+", grace: 10s}\ncompartments:\n  api: {law: fixed, initial: 200, max: 1000, queue: {size: 500}}\n")
		p.start(t)
		proxies = append(proxies, p)
		_, port, _ := strings.Cut(p.probes, ":")
		servers = append(servers, fmt.Sprintf("server s%d %s check port %s inter 100ms fall 1 rise 1", len(servers), p.address, port))
	}
	balancer := startHAProxyBefore(t, time.Second, servers...)
	restarts := either(20, 2)
	answers := under(t, balancer.url+"/work", 0.7*u.capacity(), func() {
		for n := range restarts {
			p := proxies[n%2]
			p.stop(t)
			p.start(t)
			must.Happen(t, "the balancer sends to it", func() bool { return p.counts(t).Admitted > 0 })
		}
	})
	account(t, answers, up)
	tb := newTable(t, "restarts behind a balancer that checks /ready", "restarts", "requests")
	tb.row(restarts, len(answers))
}
