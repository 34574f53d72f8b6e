package upstream

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/must"
)

// checked returns a pool of two addresses. The first answers with status; 0 hangs.
func checked(t *testing.T, status *atomic.Int64, header ...string) (*Pool, *journal) {
	t.Helper()
	p, log := fakes(t, 2)
	p.config.Health.Path = "/healthz?deep=1"
	p.pretend(0, func(r *http.Request) (*http.Response, error) {
		if r.URL.Path != "/healthz" || r.URL.RawQuery != "deep=1" || r.Method != http.MethodGet {
			t.Errorf("a check asked with %s for %s", r.Method, r.URL)
		}
		if status.Load() == 0 {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		return response(int(status.Load()), header...), nil
	})
	p.pretend(1, answer(http.StatusOK))
	return p, log
}

func TestChecksTakeAnAddressOutAndBack(t *testing.T) {
	for _, sick := range []int64{0, 404, 500, 503} {
		synctest.Test(t, func(t *testing.T) {
			var status atomic.Int64
			status.Store(sick)
			p, log := checked(t, &status)
			p.Start()
			defer p.Close()
			if s := p.Snapshot()[0]; !s.Healthy || !s.InRotation {
				t.Errorf("%d: not available before it was checked: %+v", sick, s)
			}
			time.Sleep(9 * time.Second) // 2 checks at most
			if !p.Snapshot()[0].InRotation {
				t.Errorf("%d: out of rotation after 2 checks", sick)
			}
			time.Sleep(10 * time.Second)
			if s := p.Snapshot()[0]; s.Healthy || s.InRotation || s.LastError == "" {
				t.Errorf("%d: in rotation after 3 checks: %+v", sick, s)
			}
			status.Store(302)
			time.Sleep(12 * time.Second)
			if s := p.Snapshot()[0]; !s.Healthy || !s.InRotation {
				t.Errorf("%d: not back after 2 good checks: %+v", sick, s)
			}
			if log.count("address of upstream is unhealthy") != 1 || log.count("address of upstream is healthy") != 1 {
				t.Errorf("%d: want each change in the log once:\n%s", sick, log)
			}
		})
	}
}

func TestChecksThatAreShedSayNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var status atomic.Int64
		status.Store(503)
		p, _ := checked(t, &status, "Retry-After", "1")
		p.Start()
		defer p.Close()
		time.Sleep(time.Minute)
		if !p.Snapshot()[0].Healthy {
			t.Error("unhealthy because it sheds load")
		}
	})
}

// Reloads are more frequent than checks, and the checks continue.
func TestReloadsDelayNoCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var checks atomic.Int64
		c := defaults("http://one")
		c.Health.Path = "/"
		count := fake(func(*http.Request) (*http.Response, error) {
			checks.Add(1)
			return response(http.StatusOK), nil
		})
		p, _ := newPool(t, c, nil)
		p.pretend(0, count)
		p.addresses[0].settings = c
		p.Start()
		for range 500 {
			time.Sleep(time.Second)
			next, _ := newPool(t, c, p)
			next.Start()
			p.Close()
			p = next
		}
		p.Close()
		if n := checks.Load(); n < 90 || n > 110 {
			t.Errorf("%d checks in 500 s, want one each 5 s", n)
		}
	})
}

func TestCloseWaitsForNoCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var status atomic.Int64
		p, _ := checked(t, &status)
		p.config.Health.Timeout = config.Duration(time.Hour)
		p.Start()
		time.Sleep(10 * time.Second)
		closed := time.Now()
		p.Close()
		if time.Since(closed) != 0 {
			t.Error("Close waited for an answer")
		}
		if s := p.Snapshot()[0]; s.LastError != "" {
			t.Errorf("a check that Close ended counts: %+v", s)
		}
	})
}

func TestHealthIsForgottenWithoutChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := defaults("http://one", "http://two")
		c.Health.Path = "/"
		p, _ := newPool(t, c, nil)
		for range 3 {
			p.addresses[0].check(context.DeadlineExceeded, c.Health, time.Now())
		}
		if p.Snapshot()[0].InRotation {
			t.Fatal("an unhealthy address is in rotation")
		}
		c.Health.Path = ""
		next, _ := newPool(t, c, p)
		next.Start()
		p.Close()
		if s := next.Snapshot()[0]; !s.InRotation || !s.Healthy {
			t.Errorf("without checks: %+v", s)
		}
		c.Health.Path = "/"
		again, _ := newPool(t, c, next)
		next.Close()
		defer again.Close()
		if s := again.Snapshot()[0]; !s.Healthy {
			t.Errorf("unhealthy by a check from before: %+v", s)
		}
	})
}

// Over HTTP/1 a check takes no connection of a request, which its cancellation would end.
func TestChecksHaveTheirOwnConnections(t *testing.T) {
	url, all, _ := counting(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/base/healthz" {
			t.Errorf("asked for %s", r.URL.Path)
		}
	})
	c := defaults(url + "/base")
	c.Health.Path = "/healthz"
	p, _ := started(t, c)
	for range 3 {
		must.Do(t, p.ask(t.Context(), p.addresses[0]))
	}
	if all.Load() < 3 {
		t.Errorf("%d connections for 3 checks", all.Load())
	}
}
