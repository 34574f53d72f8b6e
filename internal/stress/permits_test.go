package stress

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/law"
)

// Copies on many goroutines measure, reweigh and give back, in any order: the limiter and the
// breaker get each outcome once, and each permit is back once.
func TestCopiesInAnyOrder(t *testing.T) {
	const work, each = 300, 8
	b := &counting{}
	l := weir.Must(weir.New(weir.Config{
		Initial: 50, Max: 10_000, Law: law.Fixed{}, Breaker: b,
		Queue: weir.Queue{Size: work, Timeout: time.Hour},
	}))
	var all sync.WaitGroup
	for i := range work {
		all.Go(func() {
			permit, err := l.AcquireN(t.Context(), 1+i%3)
			if err != nil {
				t.Error(err)
				return
			}
			for k := range each {
				twin := permit
				all.Go(func() {
					switch (i + k) % each {
					case 0:
						twin.Measure(weir.Ignore)
					case 1:
						if err := twin.SetWeight(1 + i%5); err != nil {
							t.Error(err)
						}
					case 2:
						twin.Done(errors.New("boom"))
					case 3:
						twin.Measure(weir.Success)
					case 4:
						twin.Release()
					case 5:
						_ = twin.Waited()
					case 6:
						twin.DoneWith(nil)
					case 7:
						twin.Finish(weir.Failure)
					}
				})
			}
		})
	}
	all.Wait()
	s := l.Snapshot()
	limittest.Balanced(t, s)
	if s.Completed != work || s.Succeeded+s.Failed+s.Ignored != work {
		t.Errorf("not heard of each: %v", l)
	}
	if told := b.failed + b.succeeded + b.ignored; told != b.allowed || b.failed != s.Failed || b.succeeded != s.Succeeded {
		t.Errorf("the breaker heard of %d of %d, the limiter counted %v", told, b.allowed, l)
	}
}

// counting is a breaker that allows all, and counts.
type counting struct {
	mu                                  sync.Mutex
	allowed, succeeded, failed, ignored uint64
}

func (b *counting) Allow(context.Context) (func(weir.Outcome), error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.allowed++
	return func(o weir.Outcome) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch o {
		case weir.Success:
			b.succeeded++
		case weir.Failure:
			b.failed++
		default:
			b.ignored++
		}
	}, nil
}
