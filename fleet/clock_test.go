package fleet

import (
	"testing"
	"time"
)

// A wall clock that is set forward, or a sleep of the machine, counts. One that is set back does
// not.
func TestClockJumps(t *testing.T) {
	for jump, least := range map[time.Duration]time.Duration{time.Hour: time.Hour, -time.Hour: 0} {
		c := newClock()
		before := c.now()
		c.last = time.Now().Round(0).Add(-jump) // by the wall clock alone
		if after := c.now(); after < before+least || after > before+least+time.Minute {
			t.Errorf("%v after a jump of %v: want %v more", after-before, jump, least)
		}
	}
}
