package proxy

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir/fleet/storetest"
	"github.com/weir-go/weir/internal/must"
)

// quickFleet has times for tests.
const quickFleet = "fleet: {name: shop, store: 'nats://127.0.0.1:4222', cap: 20, refresh: 50ms, ttl: 1s, grace: 200ms}\n" +
	"compartments: {api: {law: fixed(limit=100), initial: 100, queue: {size: 0}}}\n"

// meters counts the requests that an upstream has at once.
func meters(t *testing.T) (address string, most *atomic.Int64) {
	var now atomic.Int64
	most = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, most
}

// load sends requests to the proxies from many clients until stop.
func load(t *testing.T, clients int, proxies ...*running) (stop func()) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	var all sync.WaitGroup
	ended := make(chan struct{})
	for _, p := range proxies {
		for range clients {
			all.Go(func() {
				for {
					select {
					case <-ended:
						return
					default:
					}
					if answer, err := client.Get("http://" + p.address); err == nil {
						answer.Body.Close()
					}
				}
			})
		}
	}
	return sync.OnceFunc(func() { close(ended); all.Wait(); client.CloseIdleConnections() })
}

func (r *running) share() int { return r.fleet.Snapshot().Share }

// Two proxies before one upstream never have more than their cap there, through a reload, the loss
// of the store, and the end of one of them.
func TestFleetKeepsItsCap(t *testing.T) {
	upstream, most := meters(t)
	store := storetest.NewMemory()
	whole := addresses + file(upstream, quickFleet)
	a, b := startIn(t, whole, store), startIn(t, whole, store)
	if err := a.ready(); err == nil || !strings.Contains(err.Error(), "waiting for a share of the fleet's cap") {
		t.Errorf("ready before its first share: %v", err)
	}
	if status, _ := a.get("/"); status != http.StatusServiceUnavailable {
		t.Errorf("status %d without a share, want 503", status)
	}
	defer load(t, 16, a, b)()
	must.Happen(t, "both have a share and use the cap", func() bool { return a.share() > 5 && b.share() > 5 && most.Load() > 15 })
	if err := a.ready(); err != nil {
		t.Errorf("not ready with a share: %v", err)
	}
	before := a.share()
	must.Do(t, a.reload(file(upstream, strings.Replace(quickFleet, "initial: 100", "initial: 50", 1))))
	if s := a.Snapshot(); s.Max != before && s.Max != a.share() {
		t.Errorf("a cap of %d after a reload with a share of %d: want that share", s.Max, before)
	}
	if err := a.reload(file(upstream, strings.Replace(quickFleet, "cap: 20", "cap: 30", 1))); err == nil || !strings.Contains(err.Error(), "fleet.cap was 20 and is 30: restart needed") {
		t.Errorf("a reload with another cap: %v", err)
	}

	store.Fail(true)
	must.Happen(t, "both have fallen back", func() bool { return !a.fleet.Snapshot().Leased && !b.fleet.Snapshot().Leased })
	// One of them may have lost its lease before, on a slow machine, and keeps 0.
	if sum := a.share() + b.share(); sum > 20 || sum == 0 {
		t.Errorf("shares of %d and %d without the store", a.share(), b.share())
	}
	if err := a.ready(); err != nil {
		t.Errorf("not ready without the store: %v", err)
	}
	store.Fail(false)
	must.Happen(t, "shares again", func() bool { return a.fleet.Snapshot().Leased && b.fleet.Snapshot().Leased })
	b.stop()
	must.Happen(t, "the first has all", func() bool { return a.share() == 20 })
	if n := most.Load(); n > 20 {
		t.Errorf("%d requests at once at the upstream, of a cap of 20", n)
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	a, _ := named(t, "a")
	r := startIn(t, addresses+file(a, quickFleet), storetest.NewMemory())
	must.Happen(t, "a share", func() bool { return r.share() == 20 })
	f, _ := r.state()["fleet"].(map[string]any)
	epoch, _ := f["epoch"].(float64)
	if f["name"] != "shop" || f["cap"] != 20.0 || f["share"] != 20.0 || f["members"] != 1.0 || f["allocates"] != true || f["allocator"] != f["member"] || epoch < 1 {
		t.Errorf("the state has %v", f)
	}
	for _, line := range []string{`weir_proxy_fleet_share{fleet="shop"} 20`, `weir_proxy_fleet_leased{fleet="shop"} 1`, `weir_proxy_fleet_allocates{fleet="shop"} 1`} {
		if !strings.Contains(r.metrics(), line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}

func TestFleetNeedsAStore(t *testing.T) {
	a, _ := named(t, "a")
	r := start(t, file(a, ""))
	r.write(addresses + file(a, quickFleet))
	c := must.Have(r.parse())(t)
	if _, err := New(c, Options{Log: discard}); err == nil || !strings.Contains(err.Error(), "Store is nil") {
		t.Errorf("%v, want that there is no store", err)
	}
}
