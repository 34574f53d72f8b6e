package memory

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// After any calls, the kept bytes are the taken and not released ones, and never more than their
// share.
func TestKeepAgainstASum(t *testing.T) {
	g, _ := governed(t, Config{Target: 16 << 20})
	const most = 2 << 20
	random := rand.New(rand.NewPCG(1, 2))
	var held, back []Hold
	sum := 0
	for range 10_000 {
		if len(back) > 0 {
			back[random.IntN(len(back))].Release() // does nothing, though another has its record
		}
		if random.IntN(3) == 0 && len(held) > 0 {
			last := len(held) - 1
			sum -= int(held[last].record.bytes)
			held[last].Release()
			held, back = held[:last], append(back, held[last])
		} else {
			bytes := random.IntN(most / 20)
			h, err := g.TryAcquireKept(bytes)
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
		g.step()
	}
	step(100 * mib)
	h := must.Have(g.TryAcquireKept(100 * mib))(t)
	step(850 * mib)
	if _, err := g.TryAcquireKept(1); !errors.Is(err, ErrFull) {
		t.Errorf("at a load of %v: %v", g.Snapshot().Load(), err)
	}
	step(100 * mib)
	if _, err := g.TryAcquireKept(26 * mib); !errors.Is(err, ErrFull) {
		t.Errorf("above an eighth: %v", err)
	}
	h.Release()
	if _, err := g.TryAcquireKept(125 * mib); err != nil {
		t.Errorf("an eighth: %v", err)
	}
}

func TestKeepRefusesWhatIsNoSize(t *testing.T) {
	g, _ := governed(t, Config{Target: 16 << 20})
	h, err := g.TryAcquireKept(0)
	if err != nil {
		t.Errorf("nothing: %v", err)
	}
	h.Release()
	if _, err := g.TryAcquireKept(-1); !errors.Is(err, ErrConfig) {
		t.Errorf("-1: %v", err)
	}
	one := must.Have(g.TryAcquireKept(1))(t)
	if _, err := g.TryAcquireKept(math.MaxInt); !errors.Is(err, ErrFull) {
		t.Errorf("the largest number: %v", err)
	}
	one.Release()
	g.Close()
	if _, err := g.TryAcquireKept(1); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// A sum with the largest number is negative, and would fit.
func TestBudgetOfTheLargestNumber(t *testing.T) {
	waits := func(b *budget, bytes int64) bool {
		_, w := b.acquire(bytes)
		return w != nil
	}
	b := &budget{size: 100}
	if waits(b, 1) {
		t.Fatal("a byte waits")
	}
	if !waits(b, math.MaxInt64) {
		t.Error("the largest number is in flight beside a byte")
	}
	alone := &budget{size: 100}
	if waits(alone, math.MaxInt64) {
		t.Fatal("it does not go alone")
	}
	if !waits(alone, 1) {
		t.Error("a byte is in flight beside the largest number")
	}
}

func TestBudgetThatGrows(t *testing.T) {
	b := &budget{size: 1}
	b.acquire(1)
	_, w := b.acquire(1)
	b.resize(2)
	select {
	case <-w.admitted:
	default:
		t.Error("a byte for which there is room by now waits")
	}
}

func TestAcquireWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := governed(t, Config{Target: 64 * mib}) // a budget of 1 MiB
		first := must.Have(g.Acquire(t.Context(), 900<<10))(t)
		order := make(chan string, 2)
		var all sync.WaitGroup
		take := func(name string, bytes int) {
			all.Go(func() {
				hold, err := g.Acquire(t.Context(), bytes)
				if err != nil {
					t.Error(err)
				}
				order <- name
				time.Sleep(time.Second)
				hold.Release()
			})
			synctest.Wait()
		}
		take("large", 100*mib)
		take("small", 1)
		time.Sleep(time.Second)
		if s := g.Snapshot(); s.Waiting != 2 || s.Waited != 2*time.Second || s.InFlight != 900<<10 || len(order) != 0 {
			t.Errorf("%+v, admitted %d", s, len(order))
		}
		first.Release()
		first.Release()
		synctest.Wait()
		if s := g.Snapshot(); len(order) != 1 || s.InFlight != 100*mib {
			t.Errorf("%+v: want the one that is larger than the budget, alone", s)
		}
		all.Wait()
		if one, two := <-order, <-order; one != "large" || two != "small" {
			t.Errorf("admitted %s, then %s", one, two)
		}
		if s := g.Snapshot(); s.InFlight != 0 || s.Waited != 3*time.Second {
			t.Errorf("%+v", s)
		}
	})
}

func TestAcquireGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := governed(t, Config{Target: 64 * mib})
		half := must.Have(g.Acquire(t.Context(), mib/2))(t)
		hold, _ := g.Acquire(nil, mib/2) //nolint:staticcheck // a nil context counts as Background
		why := errors.New("why")
		ctx, stop := context.WithCancelCause(t.Context())
		failed := make(chan error, 2)
		go func() { _, err := g.Acquire(ctx, mib); failed <- err }()
		synctest.Wait()
		go func() { _, err := g.Acquire(t.Context(), 1); failed <- err }()
		synctest.Wait()
		stop(why)
		if err := <-failed; !errors.Is(err, why) {
			t.Errorf("%v, want the cause", err)
		}
		if _, err := g.Acquire(ctx, 1); !errors.Is(err, why) {
			t.Errorf("of a context that has ended: %v", err)
		}
		g.Close()
		if err := <-failed; !errors.Is(err, ErrClosed) {
			t.Errorf("%v, want ErrClosed", err)
		}
		if _, err := g.Acquire(t.Context(), 1); !errors.Is(err, ErrClosed) {
			t.Errorf("%v, want ErrClosed", err)
		}
		if _, err := g.Acquire(t.Context(), -1); !errors.Is(err, ErrConfig) {
			t.Errorf("%v, want ErrConfig", err)
		}
		half.Release()
		hold.Release()
		if s := g.Snapshot(); s.InFlight != 0 || s.Waiting != 0 {
			t.Errorf("%+v is left", s)
		}
		if _, err := g.Acquire(t.Context(), 1); !errors.Is(err, ErrClosed) {
			t.Errorf("with room: %v, want ErrClosed", err)
		}
		open, _ := governed(t, Config{Target: 64 * mib})
		if _, err := open.Acquire(ctx, 1); !errors.Is(err, why) {
			t.Errorf("with room, of a context that has ended: %v", err)
		}
	})
}

// One that was admitted in the instant in which it gave up gives the bytes back.
func TestWaiterAdmittedWhileItLeaves(t *testing.T) {
	b := budget{size: 10}
	hold, _ := b.acquire(10)
	_, w := b.acquire(5)
	hold.Release()
	b.leave(w)
	if _, inFlight, waiting := b.snapshot(); inFlight != 0 || waiting != 0 {
		t.Errorf("%d in flight, %d waiting", inFlight, waiting)
	}
	b.acquire(10)
	_, w = b.acquire(9)
	_, next := b.acquire(0)
	b.leave(w)
	select {
	case <-next.admitted:
	default:
		t.Error("who stood behind one that left is not admitted")
	}
}
