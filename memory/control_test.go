package memory

import (
	"testing"
	"time"
)

const mib = 1 << 20

// steady is what a control decides on the same reading for a while.
func steady(c *control, r reading, during time.Duration) (d decision) {
	for end := r.at + during; r.at <= end; r.at += period {
		if d = c.step(r); d.collect {
			r.collected++
		}
	}
	return d
}

func TestBudgetGoesByRoom(t *testing.T) {
	const target = 1000 * mib // so that the limit is 900 MiB, and the whole budget target/64
	for _, test := range []struct {
		name string
		r    reading
		want int64
	}{
		{"nothing live", reading{}, target / 64},
		{"room of 0.35", reading{live: 585 * mib}, target / 64},
		{"room of 0.225", reading{live: 500 * mib, fixed: 197*mib + mib/2}, target / 128},
		{"room of 0.10", reading{live: 810 * mib}, leastBudget},
		{"above the limit", reading{live: 2000 * mib}, leastBudget},
		{"garbage is no need", reading{anonymous: 990 * mib, resident: 990 * mib, runtime: 990 * mib, live: 100 * mib}, target / 64},
		{"off-heap takes of the limit", reading{anonymous: 700 * mib, runtime: 300 * mib, live: 450 * mib}, leastBudget},
		{"off-heap above the target", reading{anonymous: 2000 * mib, runtime: 100 * mib, live: 10 * mib}, leastBudget},
	} {
		c := control{target: target}
		if got := c.step(test.r).budget; got < test.want-1 || got > test.want+1 {
			t.Errorf("%s: budget %d, want %d", test.name, got, test.want)
		}
	}
}

func TestLimitLeavesATenthAndWhatIsOffHeap(t *testing.T) {
	c := control{target: 1000 * mib}
	if d := c.step(reading{anonymous: 300 * mib, runtime: 200 * mib}); d.limit != 800*mib {
		t.Errorf("limit %d MiB, want 0.9 of 1000 less 100 off-heap", d.limit/mib)
	}
	if d := c.step(reading{anonymous: 100 * mib, runtime: 200 * mib}); d.limit != 900*mib {
		t.Errorf("limit %d MiB: memory that the runtime has not touched is not below nothing", d.limit/mib)
	}
	if d := c.step(reading{anonymous: 5000 * mib}); d.limit != 0 {
		t.Errorf("limit %d", d.limit)
	}
}

func TestCollectsAtTheLeastBudgetOnceASecond(t *testing.T) {
	c := control{target: 1000 * mib}
	count := func(r reading, during time.Duration) (n int) {
		for end := r.at + during; r.at < end; r.at += period {
			if c.step(r).collect {
				n++
			}
		}
		return n
	}
	full := reading{live: 900 * mib, collected: 7}
	if n := count(full, 900*time.Millisecond); n != 0 {
		t.Errorf("%d collections within a second of the program's own", n)
	}
	full.at = time.Second
	if n := count(full, 5*time.Second); n != 5 {
		t.Errorf("%d collections in 5 s, want 5", n)
	}
	roomy := reading{at: 10 * time.Second, live: 100 * mib, collected: 7}
	if n := count(roomy, 5*time.Second); n != 0 {
		t.Errorf("%d collections with room", n)
	}
}

func TestTargetTooSmallIsNotTheWorkInFlight(t *testing.T) {
	full := reading{live: 900 * mib}
	c := control{target: 1000 * mib}
	if d := steady(&c, full, 4900*time.Millisecond); d.short {
		t.Error("said before 5 s")
	}
	c = control{target: 1000 * mib}
	d := steady(&c, full, 7*time.Second) // the first collection after one second
	if !d.short || d.least < 1111*mib || d.least > 1112*mib {
		t.Errorf("got %+v, want a target of 900/0.9/0.9 MiB or more", d)
	}
	again := control{target: d.least}
	if d := again.step(full); d.short || d.budget < leastBudget {
		t.Errorf("with the least target: %+v", d)
	}
	full.inFlight = 100 * mib // one long line, and what was made of it
	busy := control{target: 1000 * mib}
	if d := steady(&busy, full, time.Minute); d.short {
		t.Error("the store was blamed for what is in flight")
	}
	roomy := reading{at: time.Minute, live: 100 * mib}
	if d := steady(&c, roomy, time.Second); !d.short {
		t.Error("a second of room is no proof")
	}
	if d := steady(&c, roomy, 20*time.Second); d.short || d.least > 130*mib {
		t.Errorf("there is room again: %+v", d)
	}
}

// The need of a store that compacts swings.
func TestTargetTooSmallHalfOfTheTime(t *testing.T) {
	c := control{target: 1000 * mib}
	r := reading{}
	for ; r.at < 20*time.Second; r.at += period {
		was := r.live
		if r.live = 900 * mib; r.at%time.Second >= 500*time.Millisecond {
			r.live = 300 * mib
		}
		if r.live != was {
			r.collected++
		}
		if c.step(r).short {
			break
		}
	}
	if r.at < 5*time.Second || r.at > 15*time.Second {
		t.Errorf("said after %v, want 5 to 15 s", r.at)
	}
}

func TestTargetThatIsExceeded(t *testing.T) {
	over := reading{anonymous: 1200 * mib, runtime: 1200 * mib, live: 500 * mib, inFlight: 10 * mib}
	c := control{target: 1000 * mib}
	if d := steady(&c, over, 6*time.Second); !d.short || d.least != 1200*mib {
		t.Errorf("%+v, want that 1200 MiB are needed", d)
	}
	over.inFlight = 200 * mib
	c = control{target: 1000 * mib}
	if d := steady(&c, over, time.Minute); d.short {
		t.Error("the store was blamed for a long line")
	}
}

func TestPagesAreTakenBackWhereResidentMemoryIsHigh(t *testing.T) {
	c := control{target: 1000 * mib}
	advised := func(r reading, during time.Duration) (n int) {
		for end := r.at + during; r.at < end; r.at += period {
			if c.step(r).advise {
				n++
			}
		}
		return n
	}
	if n := advised(reading{resident: 919 * mib}, time.Second); n != 0 {
		t.Errorf("%d times below 0.92 of the target", n)
	}
	if n := advised(reading{at: time.Second, resident: 930 * mib}, 3*time.Second); n != 3 {
		t.Errorf("%d times in 3 s in which it does not help, want 3", n)
	}
	c.step(reading{at: 3500 * time.Millisecond, resident: 900 * mib})
	if !c.step(reading{at: 3550 * time.Millisecond, resident: 930 * mib}).advise {
		t.Error("it helped, so the next is due at once")
	}
	if n := advised(reading{at: time.Minute, pressure: 0.2}, 2*time.Second); n != 2 {
		t.Errorf("%d times in 2 s in which others wait for memory, want 2", n)
	}
}
