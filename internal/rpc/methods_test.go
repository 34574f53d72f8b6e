package rpc_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/rpc"
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
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 100 {
				methods.Of(fmt.Sprint("/", g, i))
			}
		})
	}
	all.Wait()
	for g := range 4 {
		for i := range 100 {
			if methods.Known(fmt.Sprint("/", g, i)) == nil {
				t.Fatalf("lost /%d%d", g, i)
			}
		}
	}
}
