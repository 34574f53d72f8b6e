package rpc_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/rpc"
	"github.com/weir-go/weir/internal/together"
)

// TestMethodsAreRemembered, up to a bound, and only by Of.
func TestMethodsAreRemembered(t *testing.T) {
	lim := weir.Must(weir.New(weir.Config{}))
	asked := 0
	methods := rpc.NewMethods(func(method string) weir.Admitter {
		asked++
		if method == "/exempt" {
			return (*weir.Limiter)(nil)
		}
		return lim
	})
	if methods.Known("/a") != nil || methods.Invented("/a") != weir.Admitter(lim) || methods.Known("/a") != nil {
		t.Error("an invented method is known")
	}
	for range 3 {
		if methods.Of("/a") != weir.Admitter(lim) || methods.Of("/exempt") != nil {
			t.Error("another admitter")
		}
	}
	if methods.Known("/a") != weir.Admitter(lim) || methods.Known("/exempt") != nil {
		t.Error("a method is not known")
	}
	if asked != 3 {
		t.Errorf("asked %d times, want 3", asked)
	}
	for i := range 2000 {
		methods.Of(fmt.Sprint("/", i))
	}
	if methods.Known("/997") == nil || methods.Known("/998") != nil {
		t.Error("want 1000 methods remembered, and no more")
	}
}

// TestMethodsFromManyGoroutines loses none.
func TestMethodsFromManyGoroutines(t *testing.T) {
	methods := rpc.NewMethods(rpc.One(weir.Must(weir.New(weir.Config{}))))
	together.Do(4, func(g int) {
		for i := range 100 {
			methods.Of(fmt.Sprint("/", g, i))
		}
	})
	for g := range 4 {
		for i := range 100 {
			if methods.Known(fmt.Sprint("/", g, i)) == nil {
				t.Fatalf("lost /%d%d", g, i)
			}
		}
	}
}

// ending is an admitter that ends the stream while a message waits for its slot.
type ending struct {
	*weir.Limiter
	turn *rpc.Turn
}

func (e ending) Acquire(ctx context.Context) (weir.Permit, error) {
	permit, err := e.Limiter.Acquire(ctx)
	e.turn.End(weir.Ignore)
	return permit, err
}

func TestTurn(t *testing.T) {
	lim := weir.Must(weir.New(weir.Config{Max: 1}))
	check := func(when string, inFlight int, succeeded, ignored uint64) {
		t.Helper()
		if s := lim.Snapshot(); s.InFlight != inFlight || s.Succeeded != succeeded || s.Ignored != ignored {
			t.Errorf("%s: %d in flight, %d succeeded, %d ignored; want %d, %d, %d",
				when, s.InFlight, s.Succeeded, s.Ignored, inFlight, succeeded, ignored)
		}
	}
	var turn rpc.Turn
	take := func(a weir.Admitter) {
		t.Helper()
		must.Do(t, turn.Take(t.Context(), a))
	}
	turn.Give(weir.Success)
	check("nothing to give", 0, 0, 0)
	take(lim)
	take(lim)
	check("the next message", 1, 0, 1)
	turn.Give(weir.Success)
	turn.Give(weir.Success)
	check("given twice", 0, 1, 1)
	take(lim)
	turn.Served(t.Context())
	check("served", 0, 2, 1)
	left, leave := context.WithCancel(t.Context())
	leave()
	take(lim)
	turn.Served(left)
	check("served one that left", 0, 2, 2)
	take(ending{lim, &turn})
	check("ended while it waited", 0, 2, 3)
	take(lim)
	check("after the end", 0, 2, 4)
	notFound := func(error) rpc.Code { return rpc.NotFound }
	turn = rpc.Turn{}
	must.Do(t, turn.Run(t.Context(), notFound, func() error { take(lim); return nil }))
	check("a handler that returned", 0, 2, 5)
}
