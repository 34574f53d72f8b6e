package peers

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/adaptivelimiter"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/go-kratos/aegis/ratelimit"
	"github.com/go-kratos/aegis/ratelimit/bbr"
	"github.com/zeromicro/go-zero/core/load"
	"github.com/zeromicro/go-zero/core/logx"
	"golang.org/x/sync/semaphore"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/bench"
)

// room is the limit of every limiter that has one, so that it refuses nothing.
const room = 1000

// go-zero writes a line a minute, and one for each refusal.
func init() { logx.Disable() }

// A way passes work that takes no time through a limiter. It reports whether the limiter
// admitted the work.
type way struct {
	name string
	open func() func() bool
}

var ways = []way{
	{"cas", func() func() bool {
		var inflight atomic.Int64
		return func() bool { bench.Swap(&inflight, 1); bench.Swap(&inflight, -1); return true }
	}},
	{"weir-TryAcquire", func() func() bool {
		lim := weir.Must(weir.New(weir.Config{Min: room}))
		return func() bool {
			permit, err := lim.TryAcquire(context.Background())
			if err == nil {
				permit.Done(nil)
			}
			return err == nil
		}
	}},
	{"weir-Acquire", func() func() bool {
		lim, ctx := weir.Must(weir.New(weir.Config{Min: room})), context.Background()
		return func() bool {
			permit, err := lim.Acquire(ctx)
			if err == nil {
				permit.Done(nil)
			}
			return err == nil
		}
	}},
	{"weir-Do", func() func() bool {
		lim, ctx := weir.Must(weir.New(weir.Config{Min: room})), context.Background()
		work := func(context.Context) error { return nil }
		return func() bool { return lim.Do(ctx, work) == nil }
	}},
	{"channel", func() func() bool {
		slots := make(chan struct{}, room)
		return func() bool {
			select {
			case slots <- struct{}{}:
				<-slots
				return true
			default:
				return false
			}
		}
	}},
	{"x-sync", func() func() bool {
		s, ctx := semaphore.NewWeighted(room), context.Background()
		return func() bool {
			err := s.Acquire(ctx, 1)
			if err == nil {
				s.Release(1)
			}
			return err == nil
		}
	}},
	{"failsafe-bulkhead", func() func() bool {
		b := bulkhead.New[any](room)
		return func() bool {
			ok := b.TryAcquirePermit()
			if ok {
				b.ReleasePermit()
			}
			return ok
		}
	}},
	{"failsafe-adaptive", func() func() bool {
		l := adaptivelimiter.NewBuilder[any]().WithLimits(room, room, room).Build()
		ctx := context.Background()
		return func() bool {
			permit, err := l.AcquirePermit(ctx)
			if err == nil {
				permit.Record()
			}
			return err == nil
		}
	}},
	{"failsafe-adaptive-Run", func() func() bool {
		e := failsafe.With(adaptivelimiter.NewBuilder[any]().WithLimits(room, room, room).Build())
		work := func() error { return nil }
		return func() bool { return e.Run(work) == nil }
	}},
	{"aegis-idle", func() func() bool { return throughBBR(bbr.NewLimiter(bbr.WithCPUThreshold(1001))) }},
	{"aegis-hot", func() func() bool { return throughBBR(bbr.NewLimiter(bbr.WithCPUThreshold(0))) }},
	{"go-zero-idle", func() func() bool { return throughShedder(load.NewAdaptiveShedder(load.WithCpuThreshold(1001))) }},
	{"go-zero-hot", func() func() bool { return throughShedder(load.NewAdaptiveShedder(load.WithCpuThreshold(0))) }},
}

func throughBBR(l *bbr.BBR) func() bool {
	return func() bool {
		done, err := l.Allow()
		if err == nil {
			done(ratelimit.DoneInfo{})
		}
		return err == nil
	}
}

func throughShedder(s load.Shedder) func() bool {
	return func() bool {
		promise, err := s.Allow()
		if err == nil {
			promise.Pass()
		}
		return err == nil
	}
}

// BenchmarkCost prints the cost of each way, absolute and as a multiple of the floor, with
// one goroutine per processor.
//
//	go test -run '^$' -bench Cost -cpu 1,2 -count 5
func BenchmarkCost(b *testing.B) {
	for _, w := range ways {
		b.Run(w.name, func(b *testing.B) {
			var refused atomic.Int64
			pass := w.open()
			bench.Against(b, runtime.GOMAXPROCS(0), func(int) {
				if !pass() {
					refused.Add(1)
				}
			}, "floor", bench.Floor())
			if n := refused.Load(); n > 0 {
				b.ReportMetric(100*float64(n)/float64(b.N), "refused-%") // refusals are cheaper, so the result is too low
			}
		})
	}
}
