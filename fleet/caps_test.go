package fleet_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/internal/must"
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
