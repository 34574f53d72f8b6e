package crowd

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/weir-go/weir/internal/storm"
)

var readings = sync.OnceValue(storm.Readings)

// Document returns a document of the given size. It is JSON, and compresses as JSON does.
// The caller must not modify it.
func Document(size int) []byte { return storm.Part(readings(), size) }

// Timings records the duration of operations. It is safe for concurrent use.
type Timings struct {
	mu      sync.Mutex
	ended   int
	slowest time.Duration
	fault   error
}

// Note records an operation that ends now.
func (t *Timings) Note(began time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended++
	t.slowest = max(t.slowest, time.Since(began))
	if t.fault == nil {
		t.fault = err
	}
}

// Watch prints a line a second, and returns the number of operations that ended in the
// second half, and the duration of the slowest. It ends with the show, with ctx, or with the
// first operation that fails, and returns that error.
func (t *Timings) Watch(ctx context.Context, show Show) (ended int, slowest time.Duration, err error) {
	fmt.Fprintf(show.Out, "%8s %8s %8s\n", "second", "ended", "slowest")
	seconds := int(show.Each / time.Second)
	for second := 0; second < seconds && ctx.Err() == nil; second++ {
		pause(ctx, time.Second)
		n, most, err := t.take()
		if err != nil {
			return ended, slowest, err
		}
		if second >= seconds/2 {
			ended, slowest = ended+n, max(slowest, most)
		}
		fmt.Fprintf(show.Out, "%8d %8d %5d ms\n", second+1, n, most.Milliseconds())
	}
	return ended, slowest, nil
}

// take returns the operations noted since the last call.
func (t *Timings) take() (ended int, slowest time.Duration, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ended, slowest = t.ended, t.slowest
	t.ended, t.slowest = 0, 0
	return ended, slowest, t.fault
}
