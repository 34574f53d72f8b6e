package fleet

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/lease"
)

// A Fallback is the share of a member whose lease has ended.
type Fallback uint8

const (
	Keep   Fallback = 0 // the smaller of its last share and an equal part of the cap
	Refuse Fallback = 1 // no slots
	Local  Fallback = 2 // no bound: the cap no longer holds
)

// A Config configures a [Member]. All members of a fleet need the same settings, except ID, Weight,
// Actuator and Learner. If the caps differ, the lowest cap counts.
type Config struct {
	// Store carries the messages of the members.
	Store Store

	// Actuator keeps the work of this process within its share: [Limiter] or [Set].
	Actuator Actuator

	// Learner, if set, is the law of the actuator's limiter, which exists already. All members with
	// a Learner learn together.
	Learner *Learner

	// Cap bounds the work in flight of all members together, from 0 to 1,000,000,000.
	Cap int

	// Weight is the weight of this member in the fair shares of members that all want more.
	// Defaults to 1.
	Weight float64

	// Fallback is the share once the lease has ended. Defaults to [Keep].
	Fallback Fallback

	// Refresh is the time between two messages of a member. Defaults to 1 s; from 50 ms to 1
	// minute.
	Refresh time.Duration

	// TTL is how long a lease lasts. Defaults to 10 refreshes; from 5 refreshes to 10 minutes.
	TTL time.Duration

	// Grace is the time that the longest work takes. Defaults to 30 s; up to 1 hour.
	Grace time.Duration

	// ID names the process, and no other process ever: a process with the ID of a crashed process
	// may wait for a share for 60 TTL, so the name of a pod will not do. Defaults to a random ID;
	// up to 64 bytes of a to z, 0 to 9 and hyphens.
	ID string

	// OnError, if set, is called when the store fails, and by the member that allocates when caps
	// differ, one call at a time. The member does not wait for it, and drops errors while sixteen
	// wait. It may call [Member.Leave], which does not wait for it either.
	OnError func(error)
}

// complete fills in the defaults and checks the settings.
func (c Config) complete() (Config, error) {
	c.Weight = cmp.Or(c.Weight, 1)
	c.Refresh = cmp.Or(c.Refresh, time.Second)
	c.TTL = cmp.Or(c.TTL, 10*c.Refresh)
	c.Grace = cmp.Or(c.Grace, 30*time.Second)
	c.ID = cmp.Or(c.ID, strings.ToLower(rand.Text()))
	return c, c.check()
}

func (c Config) check() error {
	switch {
	case c.Store == nil:
		return invalid("Store is nil: want where the members meet")
	case c.Actuator == nil:
		return invalid("Actuator is nil: want fleet.Limiter or fleet.Set, of one that is not nil")
	case c.Learner != nil && !c.Learner.used():
		return invalid("Learner is the law of no limiter: want the weir.Config.Law of the Actuator's limiter")
	case c.Cap < 0 || c.Cap > lease.MostSlots:
		return invalid("Cap is %d: want 0 to %d", c.Cap, lease.MostSlots)
	case !(c.Weight >= 0.001 && c.Weight <= 1000):
		return invalid("Weight is %v: want 0.001 to 1000", c.Weight)
	case c.Fallback > Local:
		return invalid("Fallback is %d: want Keep, Refuse or Local", c.Fallback)
	case c.Refresh < 50*time.Millisecond || c.Refresh > time.Minute:
		return invalid("Refresh is %v: want 50ms to 1m", c.Refresh)
	case c.TTL < 5*c.Refresh || c.TTL > 10*time.Minute:
		return invalid("TTL is %v: want 5 refreshes, which are %v, to 10m", c.TTL, 5*c.Refresh)
	case c.Grace < 0 || c.Grace > time.Hour:
		return invalid("Grace is %v: want up to 1h", c.Grace)
	case !ids.MatchString(c.ID):
		return invalid("ID is %q: want up to 64 bytes of a to z, 0 to 9 and hyphens", c.ID)
	}
	return nil
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: fleet: %s", weir.ErrConfig, fmt.Sprintf(format, args...))
}

var ids = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

// forgets is the number of TTLs for which a silent member counts.
const forgets = 60

func (c Config) lease() lease.Config {
	return lease.Config{
		ID: c.ID, Cap: c.Cap, Weight: c.Weight, Fallback: lease.Fallback(c.Fallback),
		Refresh: c.Refresh, TTL: c.TTL, Grace: c.Grace, Forget: forgets * c.TTL,
	}
}
