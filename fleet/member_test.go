package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/fleet/storetest"
	"github.com/weir-go/weir/internal/lease"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

func TestMemory(t *testing.T) {
	storetest.Test(t, func(*testing.T) fleet.Store { return storetest.NewMemory() })
}

// An app is a process of a fleet with work for some slots.
type app struct {
	*fleet.Member
	lim  *weir.Limiter
	line *line
	held []weir.Permit
}

// A party is a fleet of apps on one store.
type party struct {
	t     *testing.T
	store *storetest.Memory
	conf  fleet.Config
	apps  []*app
	made  int

	mu      sync.Mutex
	reports []string // what OnError hears
}

// meet runs a test with a fleet of n apps, which leave in the end.
func meet(t *testing.T, c fleet.Config, n int, test func(*testing.T, *party)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &party{t: t, store: storetest.NewMemory(), conf: c}
		p.conf.Store, p.conf.OnError = p.store, p.hear
		for range n {
			p.join()
		}
		defer p.leave()
		test(t, p)
	})
}

func (p *party) hear(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reports = append(p.reports, err.Error())
}

// heard returns what was reported so far.
func (p *party) heard() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reports
}

func (p *party) join(with ...func(*fleet.Config)) *app {
	p.t.Helper()
	lim := weir.Must(weir.New(weir.Config{Max: 1000, Law: law.Fixed{Limit: 1000}}))
	c := p.conf
	l := &line{Memory: p.store, ending: map[*context.CancelFunc]bool{}}
	p.made++
	c.ID, c.Actuator, c.Store = fmt.Sprintf("app-%d", p.made), fleet.Limiter(lim), l
	for _, set := range with {
		set(&c)
	}
	m := must.Have(fleet.Join(c))(p.t)
	a := &app{Member: m, lim: lim, line: l}
	p.apps = append(p.apps, a)
	return a
}

// live passes time, in which each app tries to run as much as wants says. It checks the cap ten
// times a second.
func (p *party) live(d time.Duration, wants ...int) {
	p.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		running := 0
		for i, a := range p.apps {
			for len(a.held) > wants[i] {
				a.held[0].Done(nil)
				a.held = a.held[1:]
			}
			if len(a.held) > 0 { // work ends all the time
				a.held[0].Done(nil)
				a.held = a.held[1:]
			}
			for len(a.held) < wants[i] {
				permit, err := a.lim.TryAcquire(p.t.Context())
				if err != nil {
					break
				}
				a.held = append(a.held, permit)
			}
			running += len(a.held)
		}
		if running > p.conf.Cap && p.conf.Fallback != fleet.Local {
			p.t.Fatalf("%d run above the cap of %d", running, p.conf.Cap)
		}
	}
}

func (p *party) leave() {
	for _, a := range slices.Clone(p.apps) {
		if err := p.drop(a); err != nil && !errors.Is(err, storetest.ErrDown) {
			p.t.Error(err)
		}
	}
}

func (p *party) shares() (shares []int) {
	for _, a := range p.apps {
		shares = append(shares, a.Snapshot().Share)
	}
	return shares
}

var quick = fleet.Config{Cap: 30, Refresh: 100 * time.Millisecond, TTL: time.Second, Grace: 2 * time.Second}

// Shares follow the demand: the one busy member gets most of the cap, and gives it back.
func TestSharesFollowTheDemand(t *testing.T) {
	meet(t, quick, 3, func(t *testing.T, p *party) {
		p.live(10*time.Second, 50, 2, 2)
		if s := p.shares(); s[0] < 20 {
			t.Errorf("shares of %v with work for 50, 2 and 2: want most for the first", s)
		}
		p.live(5*time.Second, 50, 50, 50)
		for _, share := range p.shares() {
			if share < 9 || share > 11 {
				t.Errorf("shares of %v with work for 50 each: want 10 each", p.shares())
			}
		}
		p.live(5*time.Second, 2, 50, 2)
		if s := p.shares(); s[1] < 20 {
			t.Errorf("shares of %v with work for 2, 50 and 2: want most for the second", s)
		}
	})
}

// Once the store is lost, each member falls back at the end of its lease, and they go on when it is
// there again.
func TestStoreIsLost(t *testing.T) {
	for fallback, want := range map[fleet.Fallback][]int{fleet.Keep: {10, 2}, fleet.Refuse: {0, 0}, fleet.Local: {1_000_000_000, 1_000_000_000}} {
		c := quick
		c.Fallback, c.Cap = fallback, 20
		meet(t, c, 2, func(t *testing.T, p *party) {
			p.live(10*time.Second, 50, 1)
			if s := p.shares(); s[0] < 15 {
				t.Errorf("%d: shares of %v", fallback, s)
			}
			p.store.Fail(true)
			p.live(5*time.Second, 50, 1)
			if s := p.shares(); s[0] != want[0] || s[1] > want[1] || p.apps[0].Snapshot().Leased || p.apps[0].Snapshot().Err == "" {
				t.Errorf("%d: shares of %v without the store, %+v: want %v at most", fallback, s, p.apps[0].Snapshot(), want)
			}
			p.store.Fail(false)
			p.live(10*time.Second, 50, 1)
			if s := p.shares(); s[0] < 15 || p.apps[0].Snapshot().Err != "" {
				t.Errorf("%d: shares of %v with the store again, %+v", fallback, s, p.apps[0].Snapshot())
			}
			if len(p.heard()) == 0 {
				t.Error("no error is heard of")
			}
		})
	}
}

// A store that loses its disk while it is down gives no member more than the cap, and leases shares
// again.
func TestStoreForgets(t *testing.T) {
	meet(t, quick, 3, func(t *testing.T, p *party) {
		p.live(10*time.Second, 50, 2, 2)
		p.store.Fail(true)
		p.store.Forget()
		p.live(time.Second, 50, 2, 2)
		p.store.Fail(false)
		p.live(10*time.Second, 50, 50, 2)
		if s := p.shares(); s[0]+s[1] < 20 {
			t.Errorf("shares of %v after that", s)
		}
	})
}

// drop ends an app, as well as its work.
func (p *party) drop(a *app) error {
	for _, permit := range a.held {
		permit.Done(nil)
	}
	p.apps = slices.DeleteFunc(p.apps, func(other *app) bool { return other == a })
	return a.Leave(context.Background())
}

// The watch of an earlier term may end late. That it has shown all entries is not true of the watch
// of the next term, for which the allocator has to wait.
func TestWatchOfAnEarlierTerm(t *testing.T) {
	meet(t, quick, 0, func(t *testing.T, p *party) {
		first := p.join()
		again := make(chan struct{})
		var watches atomic.Int32
		first.line.mu.Lock()
		first.line.all = func(ctx context.Context, see func(fleet.Entry)) error {
			if watches.Add(1) > 1 { // shows the member itself, but not the others, and never all
				close(again)
				return p.store.Watch(ctx, lease.WantPrefix+"app-1", func(e fleet.Entry) {
					if e.Key != "" {
						see(e)
					}
				})
			}
			err := p.store.Watch(ctx, lease.AllKeys, see)
			<-again
			for range 100 { // of which the member takes some, once it waits
				time.Sleep(time.Millisecond)
				see(fleet.Entry{})
			}
			return err
		}
		first.line.mu.Unlock()
		p.live(8*time.Second, 50)
		second := p.join()
		p.live(5*time.Second, 50, 50)
		first.line.set(true)
		p.live(5*time.Second, 50, 50)
		first.line.set(false)
		p.live(3*time.Second, 50, 50)
		if !second.Snapshot().Leads || watches.Load() != 1 {
			t.Fatalf("%+v does not lead", second.Snapshot())
		}
		second.line.set(true) // it continues with its share
		p.live(5*time.Second, 50, 50)
		if !first.Snapshot().Leads || watches.Load() != 2 {
			t.Errorf("%+v does not lead again", first.Snapshot())
		}
	})
}

// Foreign entries change nothing, and are reported.
func TestForeignEntries(t *testing.T) {
	meet(t, quick, 1, func(t *testing.T, p *party) {
		p.live(5*time.Second, 5)
		for key, value := range map[string]string{
			lease.GrantPrefix + "app-1": "{", lease.WantPrefix + "x": strings.Repeat("y", 2000), lease.GrantPrefix + "y": `{"ttl":-1}`, "other": "z",
		} {
			must.Do(t, p.store.Write(t.Context(), fleet.Write{Key: key, Value: []byte(value)}))
		}
		p.live(5*time.Second, 5)
		if s := p.apps[0].Snapshot(); !s.Leased || len(p.heard()) < 3 {
			t.Errorf("%+v, heard of %q", s, p.heard())
		}
	})
}

func TestConfig(t *testing.T) {
	lim := weir.Must(weir.New(weir.Config{}))
	good := fleet.Config{Store: storetest.NewMemory(), Actuator: fleet.Limiter(lim), Cap: 20}
	for want, change := range map[string]func(*fleet.Config){
		"Store is nil":                     func(c *fleet.Config) { c.Store = nil },
		"Actuator is nil":                  func(c *fleet.Config) { c.Actuator = nil },
		"Learner is the law of no limiter": func(c *fleet.Config) { c.Learner = fleet.Learn(law.Setpoint{}) },
		"Cap is -1":                        func(c *fleet.Config) { c.Cap = -1 },
		"Weight is -1":                     func(c *fleet.Config) { c.Weight = -1 },
		"Fallback is 9":                    func(c *fleet.Config) { c.Fallback = 9 },
		"Refresh is 1ms":                   func(c *fleet.Config) { c.Refresh = time.Millisecond },
		"TTL is 2s":                        func(c *fleet.Config) { c.TTL = 2 * time.Second },
		"Grace is -1s":                     func(c *fleet.Config) { c.Grace = -time.Second },
		`ID is "me.you"`:                   func(c *fleet.Config) { c.ID = "me.you" },
	} {
		c := good
		change(&c)
		if m, err := fleet.Join(c); !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v: want %q", m, err, want)
		}
	}
}

func TestDivide(t *testing.T) {
	for _, c := range [][3]int{{20, 3, 6}, {20, 0, 20}, {2, 3, 0}, {-1, 3, 0}} {
		if got := fleet.Divide(c[0], c[1]); got != c[2] {
			t.Errorf("Divide(%d, %d) is %d, want %d", c[0], c[1], got, c[2])
		}
	}
}
