package bench

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/throttle"
)

// BenchmarkAcquire prints each way into the limiter as a multiple of the floor,
// measured in turn with it: alone, on every processor, and with 64 goroutines.
//
//	go test -run '^$' -bench Acquire -cpu 1,2 -count 5 ./internal/bench
func BenchmarkAcquire(b *testing.B) {
	ctx := context.Background()
	open := func() *weir.Limiter { return weir.Must(weir.New(weir.Config{Min: 1000})) }
	work := func(context.Context) error { return nil }

	full := weir.Must(weir.New(weir.Config{Max: 1}))
	if _, err := full.TryAcquire(context.Background()); err != nil {
		b.Fatal("the first permit was refused")
	}
	lim, doer := open(), open()
	fair := weir.Must(weir.New(weir.Config{Min: 1000, Queue: weir.Queue{Size: 1, Tenants: 64}}))
	ofTenant := weir.WithTenant(ctx, "acme")
	for _, way := range []struct {
		name string
		pass func(int)
	}{
		{"TryAcquire+Done", func(int) {
			if permit, err := lim.TryAcquire(context.Background()); err == nil {
				permit.Done(nil)
			}
		}},
		{"Acquire+Done", acquireAndDone(lim)},
		{"Acquire+Done of a tenant", func(int) {
			if permit, err := fair.Acquire(ofTenant); err == nil {
				permit.Done(nil)
			}
		}},
		{"Do", func(int) {
			if err := doer.Do(ctx, work); err != nil {
				panic(err)
			}
		}},
		{"Full", func(int) {
			if err := lim.Full(ctx); err != nil {
				panic(err)
			}
		}},
		{"refused", func(int) {
			if _, err := full.Acquire(ctx); !errors.Is(err, weir.ErrRefused) {
				panic(err)
			}
		}},
	} {
		compare(b, way.name, way.pass, "floor", Floor())
	}
}

// BenchmarkCap prints the cost of Acquire and Done with a cap below the limit, as a member of a
// fleet has it. It is a multiple of the cost without a cap, and the two are measured in turn.
//
//	go test -run '^$' -bench Cap -cpu 1,2 -count 5 ./internal/bench
func BenchmarkCap(b *testing.B) {
	free, capped := weir.Must(weir.New(weir.Config{Min: 1000})), weir.Must(weir.New(weir.Config{Min: 1000}))
	must.Do(b, capped.SetCap(500))
	compare(b, "capped", acquireAndDone(capped), "free", acquireAndDone(free))
}

// BenchmarkThrottle prints an operation that nothing throttles as a multiple of the floor.
//
//	go test -run '^$' -bench Throttle -cpu 1,2 -count 5 ./internal/bench
func BenchmarkThrottle(b *testing.B) {
	ctx := context.Background()
	guarded := func(th *throttle.Throttle) func(int) {
		return func(int) {
			op, err := th.Acquire(ctx, throttle.Write, 1)
			defer op.DoneWith(&err)
		}
	}
	th := must.Have(throttle.New(throttle.Config{}))(b)
	for _, way := range []struct {
		name string
		pass func(int)
	}{
		{"Done", func(int) { op, err := th.Acquire(ctx, throttle.Write, 1); op.Done(err) }},
		{"DoneWith", guarded(th)},
		{"off", guarded(must.Have(throttle.New(throttle.Config{Off: true}))(b))},
	} {
		compare(b, way.name, way.pass, "floor", Floor())
	}
}

// BenchmarkHistograms prints the cost of Acquire and Done with Config.Histograms, as a multiple of
// the cost without. The control has none either.
//
//	go test -run '^$' -bench Histograms -cpu 1,2 -count 10 ./internal/bench
func BenchmarkHistograms(b *testing.B) {
	trace := func(context.Context) string { return "4bf92f3577b34da6a3ce929d0e0e4736" }
	without := acquireAndDone(weir.Must(weir.New(weir.Config{Min: 1000})))
	for _, with := range []struct {
		name   string
		config weir.Config
	}{
		{"control", weir.Config{Min: 1000}},
		{"Histograms", weir.Config{Min: 1000, Histograms: true}},
		{"Exemplar", weir.Config{Min: 1000, Histograms: true, Exemplar: trace}},
	} {
		compare(b, with.name, acquireAndDone(weir.Must(weir.New(with.config))), "without", without)
	}
}

// acquireAndDone passes through a limiter.
func acquireAndDone(lim *weir.Limiter) func(int) {
	ctx := context.Background()
	return func(int) {
		if permit, err := lim.Acquire(ctx); err == nil {
			permit.Done(nil)
		}
	}
}

// compare compares two functions with one goroutine, and with 64.
func compare(b *testing.B, name string, pass func(int), other string, than func(int)) {
	for _, goroutines := range []int{1, 64} {
		b.Run(fmt.Sprintf("%s/goroutines=%d", name, goroutines), func(b *testing.B) {
			Against(b, goroutines, pass, other, than)
		})
	}
}
