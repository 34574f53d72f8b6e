package fleet_test

import (
	"context"
	"fmt"
	"log"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/fleet/storetest"
	"github.com/weir-go/weir/law"
)

// Three processes share 100 connections equally.
func ExampleDivide() {
	fmt.Println(fleet.Divide(100, 3))
	// Output: 33
}

// The processes behind a name in DNS share 100 connections equally. Count again every few seconds.
func ExampleCounter() {
	lim := weir.Must(weir.New(weir.Config{Name: "database"}))
	counter := fleet.Counter{Host: "127.0.0.1"} // such as a headless service of Kubernetes
	n, err := counter.Count(context.Background())
	if err != nil {
		log.Print(err) // n is the last number
	}
	fmt.Println(fleet.Divide(100, n), lim.SetCap(fleet.Divide(100, n)))
	// Output: 100 <nil>
}

// Processes share 100 connections by demand. A real store is in package pgfleet.
func ExampleJoin() {
	lim := weir.Must(weir.New(weir.Config{Name: "database"}))
	member, err := fleet.Join(fleet.Config{
		Store:    storetest.NewMemory(),
		Actuator: fleet.Limiter(lim),
		Cap:      100,
		OnError:  func(err error) { log.Print(err) },
	})
	if err != nil {
		log.Fatal(err)
	}
	s := member.Snapshot() // ready to serve once s.Leased is true
	fmt.Println(s.Share, s.Leased)

	ctx := context.Background()
	_ = lim.Shutdown(ctx)
	_ = member.Leave(ctx)
	// Output: 0 false
}

// Processes before one database find its limit together, as one limiter would. The cap is only a
// bound here, and needs no fallback.
func ExampleLearn() {
	learner := fleet.Learn(law.Setpoint{})
	lim := weir.Must(weir.New(weir.Config{Name: "database", Law: learner}))
	member, err := fleet.Join(fleet.Config{
		Store:    storetest.NewMemory(),
		Actuator: fleet.Limiter(lim),
		Learner:  learner,
		Cap:      10_000,
		Fallback: fleet.Local,
		OnError:  func(err error) { log.Print(err) },
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(lim.Snapshot().Limit)

	ctx := context.Background()
	_ = lim.Shutdown(ctx)
	_ = member.Leave(ctx)
	// Output: 2
}

// All keys of a set share the part of the fleet's cap that this process has.
func ExampleSet() {
	set, err := bulkhead.New(bulkhead.Config{Max: 100})
	if err != nil {
		log.Fatal(err)
	}
	member, err := fleet.Join(fleet.Config{Store: storetest.NewMemory(), Actuator: fleet.Set(set), Cap: 100})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(set.Snapshot().Max)
	_ = member.Leave(context.Background())
	// Output: 0
}

// A process begins with the state that earlier processes learned. Without a disk that outlives it,
// the store has the state.
func ExampleSaveState() {
	ctx, store := context.Background(), storetest.NewMemory()
	lim := weir.Must(weir.New(weir.Config{Name: "database"}))
	state, err := fleet.LoadState(ctx, store, "database")
	if err == nil && state != nil {
		err = lim.Restore(state)
	}
	if err != nil {
		log.Print(err) // it starts afresh
	}
	fmt.Println(fleet.SaveState(ctx, store, "database", lim.Save())) // each minute, and at the end
	// Output: <nil>
}
