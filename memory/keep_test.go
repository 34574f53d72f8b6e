package memory

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// After any calls, the kept bytes are the taken and not released ones, and never more than their
// share.
func TestKeepAgainstASum(t *testing.T) {
	g, _ := governed(t, Config{Target: 16 << 20})
	const most = 2 << 20
	random := rand.New(rand.NewPCG(1, 2))
	var held []Hold
	sum := 0
	for range 10_000 {
		if random.IntN(3) == 0 && len(held) > 0 {
			last := len(held) - 1
			sum -= int(held[last].bytes)
			held[last].Release()
			held[last].Release() // does nothing
			held = held[:last]
		} else {
			bytes := random.IntN(most / 20)
			h, err := g.Keep(bytes)
			if fits := sum+bytes <= most; fits != (err == nil) || !fits && !errors.Is(err, ErrFull) {
				t.Fatalf("%d bytes beside %d of %d: %v", bytes, sum, most, err)
			}
			if err == nil {
				held = append(held, h)
				sum += bytes
			}
		}
		if kept := g.Snapshot().Kept; kept != uint64(sum) {
			t.Fatalf("%d bytes are kept, want %d", kept, sum)
		}
	}
}

func TestNothingIsKeptWithoutRoom(t *testing.T) {
	g, m := governed(t, Config{Target: 1000 * mib})
	g.begin()
	step := func(live uint64) {
		m.set(reading{live: live})
		if err := g.step(); err != nil {
			t.Fatal(err)
		}
	}
	step(100 * mib)
	h, err := g.Keep(100 * mib)
	if err != nil {
		t.Fatal(err)
	}
	step(850 * mib)
	if _, err := g.Keep(1); !errors.Is(err, ErrFull) {
		t.Errorf("at a load of %v: %v", g.Snapshot().Load(), err)
	}
	step(100 * mib)
	if _, err := g.Keep(26 * mib); !errors.Is(err, ErrFull) {
		t.Errorf("above an eighth: %v", err)
	}
	h.Release()
	if _, err := g.Keep(125 * mib); err != nil {
		t.Errorf("an eighth: %v", err)
	}
}

func TestKeepIsNotInFlight(t *testing.T) {
	g, _ := governed(t, Config{Target: 16 << 20})
	h, err := g.Keep(2 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	taken, err := g.Take(t.Context(), 16<<20/budgetShare)
	if err != nil {
		t.Fatal(err)
	}
	taken.Release()
	if s := g.Snapshot(); s.InFlight != 0 || s.Kept != 2<<20 {
		t.Errorf("%d in flight and %d kept, want 0 and 2 MiB", s.InFlight, s.Kept)
	}
}

func TestKeepRefusesWhatIsNoSize(t *testing.T) {
	g, _ := governed(t, Config{Target: 16 << 20})
	h, err := g.Keep(0)
	if err != nil {
		t.Errorf("nothing: %v", err)
	}
	h.Release()
	if _, err := g.Keep(-1); !errors.Is(err, ErrConfig) {
		t.Errorf("-1: %v", err)
	}
	one, err := g.Keep(1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Keep(math.MaxInt); !errors.Is(err, ErrFull) {
		t.Errorf("the largest number: %v", err)
	}
	one.Release()
	g.Close()
	if _, err := g.Keep(1); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// A sum with the largest number is negative, and would fit.
func TestBudgetOfTheLargestNumber(t *testing.T) {
	b := budget{size: 100}
	if b.try(1) != nil {
		t.Fatal("a byte waits")
	}
	if b.try(math.MaxInt64) == nil {
		t.Error("the largest number is in flight beside a byte")
	}
	alone := budget{size: 100}
	if alone.try(math.MaxInt64) != nil {
		t.Fatal("it does not go alone")
	}
	if alone.try(1) == nil {
		t.Error("a byte is in flight beside the largest number")
	}
}
