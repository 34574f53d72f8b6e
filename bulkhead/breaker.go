package bulkhead

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/weir-go/weir"
)

// A lateBreaker is a breaker that [Compartment].Breaker makes when the first work of its
// compartment asks: code of the user then runs on the goroutine of that work, and under no lock of
// the set.
type lateBreaker struct {
	key   string
	make  func(key string) weir.Breaker
	mu    sync.Mutex                   // held while the breaker is made
	ready atomic.Pointer[weir.Breaker] // nil until then
}

// Allow implements [weir.Breaker].
func (b *lateBreaker) Allow(ctx context.Context) (done func(weir.Outcome), err error) {
	breaker := b.ready.Load()
	if breaker == nil {
		breaker = b.first()
	}
	if *breaker == nil {
		return nil, nil
	}
	return (*breaker).Allow(ctx)
}

// first makes the breaker, unless another goroutine has made it meanwhile. If the function of the
// user panics, or ends its goroutine, the next work tries again.
func (b *lateBreaker) first() *weir.Breaker {
	b.mu.Lock()
	defer b.mu.Unlock()
	if breaker := b.ready.Load(); breaker != nil {
		return breaker
	}
	breaker := b.make(b.key)
	b.ready.Store(&breaker)
	return &breaker
}
