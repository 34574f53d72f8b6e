package upstream

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/must"
)

// counting starts a server that counts its connections, both all and open ones.
func counting(t testing.TB, handler http.HandlerFunc) (url string, all, open *atomic.Int64) {
	t.Helper()
	all, open = new(atomic.Int64), new(atomic.Int64)
	s := httptest.NewUnstartedServer(handler)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			all.Add(1)
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL, all, open
}

func TestAReloadKeepsWhatIsKnown(t *testing.T) {
	url, all, open := counting(t, echo)
	c := defaults(url, "http://127.0.0.1:1")
	p, _ := newPool(t, c, nil)
	p.Start()
	for p.Snapshot()[0].Requests == 0 || p.Snapshot()[1].EjectedUntil.IsZero() {
		get(t, t.Context(), p)
	}
	held := must.Have(roundTrip(p, httptest.NewRequest(http.MethodGet, "/", nil)))(t)
	before := p.Snapshot()
	c.Addresses = []string{"http://127.0.0.1:1", url, "http://127.0.0.1:2"}
	c.Host = "other"
	next, _ := newPool(t, c, p)
	next.Start()
	p.Close()
	after := next.Snapshot()
	if after[0] != before[1] || after[1] != before[0] || after[2] != (Address{URL: "http://127.0.0.1:2", Healthy: true, InRotation: true}) {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
	held.Body.Close()
	if n := next.Snapshot()[1].InFlight; n != 0 {
		t.Errorf("%d in flight of the new pool after the end of a request of the old one", n)
	}
	get(t, t.Context(), next)
	if all.Load() != 1 {
		t.Errorf("%d connections, want the one from before the reload", all.Load())
	}
	if _, err := get(t, t.Context(), p); err != nil {
		t.Errorf("a request that came to the old pool: %v", err)
	}
	next.Close()
	must.Happen(t, "all connections closed", func() bool { return open.Load() == 0 })
}

func TestADroppedPoolHarmsNothing(t *testing.T) {
	url, all, _ := counting(t, echo)
	c := defaults(url)
	p, _ := started(t, c)
	get(t, t.Context(), p)
	for range 10 {
		dropped, _ := newPool(t, c, p)
		dropped.Close()
		c.Addresses = []string{url, "http://%"}
		if _, err := New("api", c, p, slog.New(slog.DiscardHandler)); err == nil {
			t.Fatal("no error")
		}
		c.Addresses = c.Addresses[:1]
		get(t, t.Context(), p)
	}
	if s := p.Snapshot()[0]; all.Load() != 1 || s.Requests != 11 || s.Failures != 0 {
		t.Errorf("%d connections, want 1; %+v", all.Load(), s)
	}
}

func TestOtherSettingsNeedOtherConnections(t *testing.T) {
	url, all, open := counting(t, echo)
	c := defaults(url)
	p, _ := newPool(t, c, nil)
	for i, change := range []func(*config.Upstream){
		func(c *config.Upstream) { c.ConnectTimeout++ },
		func(c *config.Upstream) { c.IdleTimeout++ },
		func(c *config.Upstream) { c.MaxIdleConnections++ },
		func(c *config.Upstream) { c.TLS.ServerName = "x" },
	} {
		get(t, t.Context(), p)
		change(&c)
		next, _ := newPool(t, c, p)
		p.Close()
		p = next
		must.Happen(t, "the old connection closed", func() bool { return open.Load() == 0 })
		if s := p.Snapshot()[0]; s.Requests != uint64(i+1) || all.Load() != int64(i+1) {
			t.Errorf("change %d: %d connections, %+v", i, all.Load(), s)
		}
	}
	p.Close()
}

// A connection that is in use when its pool is closed is closed after its request.
func TestCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	release := make(chan struct{})
	url, _, open := counting(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "hello")
		w.(http.Flusher).Flush()
		<-release
	})
	c := defaults(url, refusing(t))
	c.Health.Path = "/"
	p, _ := newPool(t, c, nil)
	p.Start()
	res := must.Have(roundTrip(p, httptest.NewRequest(http.MethodGet, "/", nil)))(t)
	p.Close()
	close(release)
	if text, err := io.ReadAll(res.Body); string(text) != "hello" || err != nil {
		t.Errorf("the request that was under way got %q, %v", text, err)
	}
	res.Body.Close()
	must.Happen(t, "all connections closed", func() bool { return open.Load() == 0 })
	must.Happen(t, "as many goroutines as before", func() bool { return runtime.NumGoroutine() <= before+1 }) // of the server
}

// Pools are replaced while requests run, and no request fails.
func TestReloadsUnderLoad(t *testing.T) {
	first, _, openFirst := counting(t, echo)
	second, _, openSecond := counting(t, echo)
	c := defaults(first, second)
	c.Health.Path, c.Health.Interval = "/", config.Duration(time.Millisecond)
	var current atomic.Pointer[Pool]
	p, _ := newPool(t, c, nil)
	p.Start()
	current.Store(p)
	var clients sync.WaitGroup
	var stop atomic.Bool
	for range 8 {
		clients.Go(func() {
			for !stop.Load() {
				if status, err := get(t, t.Context(), current.Load()); status != http.StatusOK || err != nil {
					t.Errorf("%d, %v", status, err)
				}
			}
		})
	}
	for i := range 100 {
		c.Addresses = [][]string{{first}, {first, second}, {second}}[i%3]
		if i%10 == 0 {
			c.IdleTimeout++
		}
		next, _ := newPool(t, c, p)
		next.Start()
		current.Store(next)
		p.Close()
		p = next
		must.Happen(t, "used", func() bool { return p.Snapshot()[0].Requests > 0 })
	}
	stop.Store(true)
	clients.Wait()
	p.Close()
	for _, s := range p.Snapshot() {
		if s.InFlight != 0 || s.Failures != 0 {
			t.Errorf("after the end: %+v", s)
		}
	}
	must.Happen(t, "all connections closed", func() bool { return openFirst.Load()+openSecond.Load() == 0 })
}
