package dash

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
)

func TestTenantsNeedTheToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{snaps: []weir.Snapshot{{Name: "search"}, {Name: "both"}}}
		h := newHub(Config{Read: w.read})
		h.config.Tenants = func() []weir.Snapshot {
			return []weir.Snapshot{{Name: "acme", Entitled: 3, Borrowed: 1}, {Name: "both"}}
		}
		defer end(h)
		names := func(v view) (shown []string, message string) {
			c := must.Have(h.join(v))(t)
			for range 2 { // the past, and a reading
				text := <-c.messages
				message += string(text)
				c.messages <- text
				o, _ := next(t, c)
				shown = nil
				for _, l := range o.Limiters {
					shown = append(shown, l.Name)
				}
			}
			return shown, message
		}
		for _, v := range []view{{limiter: "acme"}, {all: true}} {
			if got, message := names(v); fmt.Sprint(got) != "[both search]" || strings.Contains(message, "acme") {
				t.Errorf("%+v without the token: %v, %s", v, got, message)
			}
			v.trusted = true
			if got, message := names(v); fmt.Sprint(got) != "[acme both search]" || !strings.Contains(message, `{"name":"acme","whole":true`) {
				t.Errorf("%+v with the token: %v, %s", v, got, message)
			}
		}
	})
}

// Tenants take no room of other limiters.
func TestTenantsAreBounded(t *testing.T) {
	w := &world{}
	h := newHub(Config{Read: w.read})
	var tenants []weir.Snapshot
	for i := range mostLimiters {
		w.snaps = append(w.snaps, weir.Snapshot{Name: fmt.Sprintf("limiter %02d", i)})
		tenants = append(tenants, weir.Snapshot{Name: fmt.Sprintf("acme %02d", i)})
	}
	w.snaps = w.snaps[3:]
	h.config.Tenants = func() []weir.Snapshot { return tenants }
	h.keep(time.Now(), h.attempt())
	if got := h.names(view{trusted: true}); len(got) != mostLimiters || !slices.Contains(got, "acme 02") || slices.Contains(got, "acme 03") {
		t.Errorf("with the token: %v", got)
	}
	if h.more[true] != mostLimiters-3 || h.more[false] != 0 {
		t.Errorf("more are not shown: %v", h.more)
	}
}

// A limiter that was a tenant's, by its name, does not bring its past.
func TestPastOfATenant(t *testing.T) {
	w, now := &world{}, time.Now()
	h := newHub(Config{Read: w.read})
	h.config.Tenants = func() []weir.Snapshot { return []weir.Snapshot{{Name: "acme"}} }
	h.keep(now, h.attempt())
	w.snaps = []weir.Snapshot{{Name: "acme"}}
	h.keep(now.Add(every), h.attempt())
	if s := h.series["acme"]; s.tenant || len(s.points) != 1 {
		t.Errorf("%d readings for all, want the one since then", len(s.points))
	}
}

// While there is no limiter to look at, a page gets each refused request once, too.
func TestRefusedRequestsWithoutALimiter(t *testing.T) {
	h := newHub(Config{Read: (&world{}).read})
	h.running = true // by this test
	h.config.Refusals = &Refusals{}
	h.config.Refusals.Add(t.Context(), "r-1", &weir.RefusedError{})
	c := must.Have(h.join(view{trusted: true}))(t)
	sent := 0
	for i := range 4 {
		r := h.attempt()
		switch i {
		case 1:
			r.err = errors.New("a function fails")
		case 2:
			h.config.Refusals.Add(t.Context(), "r-2", &weir.RefusedError{})
		}
		h.keep(time.UnixMilli(int64(i+1)), r)
		h.send()
		sent += strings.Count(string(<-c.messages), `"id":"r-`)
	}
	if sent != 2 {
		t.Errorf("%d refused requests are sent, want each of two once", sent)
	}
}

// A page that looks with a token that is no longer the one gets nothing more by it.
func TestAnotherTokenEndsTheStream(t *testing.T) {
	for _, public := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var token atomic.Value
			token.Store(strings.Repeat("x", shortestToken))
			h := must.Have(New(Config{Read: Limiters(), Public: public, Token: func() (string, error) { return token.Load().(string), nil }}))(t)
			defer end(h.hub)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			open := func(header string) (ended chan struct{}) {
				r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/events", nil)
				r.Header.Set("Authorization", header)
				ended = make(chan struct{})
				go func() {
					defer close(ended)
					h.ServeHTTP(httptest.NewRecorder(), r)
				}()
				return ended
			}
			over := func(stream chan struct{}) bool {
				synctest.Wait()
				select {
				case <-stream:
					return true
				default:
					return false
				}
			}
			trusted, stranger := open("Bearer "+token.Load().(string)), open("")
			time.Sleep(time.Minute)
			if over(trusted) || over(stranger) == public {
				t.Fatalf("public: %v: the streams did not begin as they should", public)
			}
			token.Store(strings.Repeat("y", shortestToken))
			time.Sleep(recheck)
			if !over(trusted) {
				t.Errorf("public: %v: the stream goes on with an old token", public)
			}
			if public && over(stranger) {
				t.Error("the stream without a token ended, too")
			}
			leave()
			synctest.Wait()
		})
	}
}
