package fleet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/internal/must"
)

// A cap of 0 is a lease of nothing. One above all limits is shared as well, and moves no limit.
func TestCapsOfNothingAndOfAll(t *testing.T) {
	for limit, wants := range map[int]int{0: 0, 1_000_000_000: 50} {
		c := quick
		c.Cap = limit
		meet(t, c, 2, func(t *testing.T, p *party) {
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
	meet(t, quick, 2, func(t *testing.T, p *party) {
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
		if want, got := "caps from 10 to 30", p.heard(); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("heard of %q: want once of %s", got, want)
		}
	})
}
