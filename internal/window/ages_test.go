package window

import (
	"math/rand/v2"
	"testing"
	"time"
)

// An exactAges is the exact model of ages: every piece of work in flight, with the greatest
// age that was reported since it started.
type exactAges struct {
	work []exactWork
}

type exactWork struct{ start, reported int64 }

func (e *exactAges) saw(reported int64) {
	for i := range e.work {
		e.work[i].reported = max(e.work[i].reported, reported)
	}
}

func (e *exactAges) oldest() exactWork {
	o := e.work[0]
	for _, w := range e.work {
		if w.start < o.start {
			o = w
		}
	}
	return o
}

// TestAges runs random traffic of many shapes and checks the promised bounds of the age.
func TestAges(t *testing.T) {
	shapes := []struct {
		name    string
		gap     float64 // mean time between starts
		tick    int64   // of the clock
		latency func(r *rand.Rand) float64
		total   int
	}{
		{"fast", 1e4, 1, func(r *rand.Rand) float64 { return r.ExpFloat64() * 5e5 }, 20_000},
		{"steady", 1e6, 1, func(r *rand.Rand) float64 { return 3e7 + r.Float64()*1e7 }, 5000},
		{"exponential", 1e6, 1, func(r *rand.Rand) float64 { return r.ExpFloat64() * 1e8 }, 5000},
		{"heavy tail", 1e7, 1, func(r *rand.Rand) float64 { return 1e7 / (1e-4 + r.Float64()) }, 5000},
		{"stuck", 1e7, 1, func(r *rand.Rand) float64 {
			if r.IntN(300) == 0 {
				return 1e10
			}
			return r.ExpFloat64() * 1e7
		}, 5000},
		{"coarse clock", 1e6, 4 * ms, func(r *rand.Rand) float64 { return r.ExpFloat64() * 3e7 }, 5000},
		{"bursts", 1e5, 1, func(r *rand.Rand) float64 { return float64(r.IntN(3)) * 1e9 }, 5000},
	}
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			for seed := range uint64(5) {
				r := rand.New(rand.NewPCG(seed, 8))
				runAges(t, r, shape.gap, shape.tick, shape.latency, shape.total)
			}
		})
	}
}

func runAges(t *testing.T, r *rand.Rand, gap float64, tick int64, latency func(*rand.Rand) float64, total int) {
	m := New(0, time.Second)
	var exact exactAges
	var ends []int64                   // of exact.work
	precise, now := int64(0), int64(0) // now is precise at the resolution of the clock
	for total > 0 || len(ends) > 0 {
		next := precise + int64(r.ExpFloat64()*gap)
		due := -1
		for i, end := range ends {
			if end <= next || total == 0 {
				due, next = i, max(end, precise)
			}
		}
		precise, now = next, next/tick*tick
		m.Flow(now, len(ends), false)
		if due >= 0 {
			m.Done(exact.work[due].start, now, 1, Success)
			last := len(ends) - 1
			exact.work[due], ends[due] = exact.work[last], ends[last]
			exact.work, ends = exact.work[:last], ends[:last]
		} else {
			total--
			m.Start(now, len(ends)+1)
			exact.work = append(exact.work, exactWork{start: now})
			ends = append(ends, precise+int64(latency(r)))
		}
		checkAge(t, m, &exact, now)
	}
}

func checkAge(t *testing.T, m *Meter, exact *exactAges, now int64) {
	t.Helper()
	got := int64(m.Age(now))
	if len(exact.work) == 0 {
		if got != 0 {
			t.Fatalf("nothing in flight is %v old", m.Age(now))
		}
		return
	}
	exact.saw(got)
	oldest := exact.oldest()
	truth := now - oldest.start
	if got < truth || got > truth+max(ms, oldest.reported/2) {
		t.Fatalf("age %v of %v, greatest reported since %v",
			time.Duration(got), time.Duration(truth), time.Duration(oldest.reported))
	}
}

// TestAgesWithUnrulyClock: nothing is lost for any order of times.
func TestAgesWithUnrulyClock(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 9))
		m := New(0, time.Second)
		var starts []int64
		now := int64(0)
		for range 500 {
			now += r.Int64N(4 * ms)
			seen := now - r.Int64N(10*ms)
			m.Flow(seen, len(starts), false)
			if len(starts) > 0 && r.IntN(2) == 0 {
				i := r.IntN(len(starts))
				m.Done(starts[i], seen, 1, Failure)
				starts[i] = starts[len(starts)-1]
				starts = starts[:len(starts)-1]
			} else {
				starts = append(starts, seen)
				m.Start(seen, len(starts))
			}
			counted := 0
			for i := range m.ages.n {
				counted += int(m.ages.counts[i])
			}
			if counted != len(starts) {
				t.Fatalf("counts %d in flight, want %d", counted, len(starts))
			}
			oldest := now
			for _, s := range starts {
				oldest = min(oldest, s)
			}
			if age := m.Age(now); int64(age) < now-oldest {
				t.Fatalf("age %v, want at least %v", age, time.Duration(now-oldest))
			}
		}
	}
}

func TestAgesForgivesAnEndTooMany(t *testing.T) {
	m := New(0, time.Second)
	m.Start(5, 1)
	m.Done(5, 6, 1, Success)
	m.Done(5, 7, 1, Success)
	m.Start(8, 1)
	if got := m.Age(10); got != 2 {
		t.Errorf("age %d, want 2", got)
	}
}
