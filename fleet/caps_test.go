package fleet_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/fleet/storetest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// A cap of 0 is a lease of nothing. One above all limits is shared as well, and moves no limit.
func TestCapsOfNothingAndOfAll(t *testing.T) {
	for limit, wants := range map[int]int{0: 0, 1_000_000_000: 50} {
		synctest.Test(t, func(t *testing.T) {
			c := quick
			c.Cap = limit
			p := newParty(t, c)
			defer p.leave()
			p.join()
			p.join()
			p.live(10*time.Second, 50, 50)
			for _, a := range p.apps {
				if s := a.Snapshot(); !s.Leased || s.Share > limit || len(a.held) != wants || a.lim.Snapshot().Limit != min(s.Share, 1000) {
					t.Errorf("a cap of %d: %d run of 50, a limit of %d, %+v", limit, len(a.held), a.lim.Snapshot().Limit, s)
				}
			}
		})
	}
}

// The cap of a set is moved as that of a limiter is. One below its reserves holds: they yield.
func TestCapBelowTheReserves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		half := bulkhead.Compartment{Config: weir.Config{Law: law.Fixed{Limit: 50}, Max: 50}, Reserved: 20}
		s := must.Have(bulkhead.New(bulkhead.Config{Max: 100, ByKey: map[string]bulkhead.Compartment{"a": half, "b": half}}))(t)
		c := quick
		c.Store, c.Actuator, c.Cap, c.Start = storetest.NewMemory(), fleet.Set(s), 5, 3
		m := must.Have(fleet.Join(c))(t)
		if limit := s.Snapshot().Max; limit != 3 {
			t.Errorf("a cap of %d, want Start", limit)
		}
		ran := map[string]int{}
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			clear(ran)
			var held []weir.Permit
			for range 50 {
				for _, key := range []string{"a", "b"} {
					permit, err := s.TryAcquire(t.Context(), key)
					if err == nil {
						ran[key]++
						held = append(held, permit)
					} else if !errors.Is(err, weir.ErrRefused) {
						t.Fatal(err)
					}
				}
			}
			if len(held) > 5 {
				t.Fatalf("%v run above the cap of 5", ran)
			}
			for _, permit := range held {
				permit.Done(nil)
			}
		}
		if ran["a"]+ran["b"] != 5 || ran["a"] < 2 || ran["b"] < 2 || !m.Snapshot().Leased {
			t.Errorf("%v run of a cap of 5, with reserves of 20 each; %+v", ran, m.Snapshot())
		}
		if err := m.Leave(t.Context()); err != nil || s.Snapshot().Max != 0 {
			t.Errorf("%v, a cap of %d after it left", err, s.Snapshot().Max)
		}
	})
}

// Members of two fleets with one name, as in a deployment of another cap: the lowest cap counts as
// long as one of its members is there.
func TestCapsThatDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var reports []string
		c := quick
		c.OnError = func(err error) { mu.Lock(); defer mu.Unlock(); reports = append(reports, err.Error()) }
		p := newParty(t, c)
		defer p.leave()
		p.join()
		p.join()
		p.live(10*time.Second, 50, 50)
		if s := p.shares(); s[0]+s[1] != 30 {
			t.Errorf("shares of %v of a cap of 30", s)
		}
		low := p.join(func(c *fleet.Config) { c.Cap = 10 })
		p.live(5*time.Second, 50, 50, 50)
		p.conf.Cap = 10
		p.live(10*time.Second, 50, 50, 50)
		if s := p.shares(); s[0]+s[1]+s[2] != 10 || s[2] < 3 {
			t.Errorf("shares of %v beside a member with a cap of 10", s)
		}
		p.conf.Cap = 30
		must.Do(t, p.drop(low))
		p.live(10*time.Second, 50, 50)
		if s := p.shares(); s[0]+s[1] != 30 {
			t.Errorf("shares of %v once that member has left", s)
		}
		mu.Lock()
		defer mu.Unlock()
		if want := "caps from 10 to 30"; len(reports) != 1 || !strings.Contains(reports[0], want) {
			t.Errorf("reports %q: want one of %s", reports, want)
		}
	})
}
