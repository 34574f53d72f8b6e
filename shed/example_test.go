package shed_test

import (
	"context"
	"fmt"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/shed"
)

func ExampleNew() {
	mon, err := load.New(load.Config{Sources: []load.Source{&load.CPU{Limit: 0.6}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { _ = mon.Run(ctx) }()

	cpu, err := shed.New(mon, shed.Config{Name: "cpu"})
	if err != nil {
		fmt.Println(err)
		return
	}
	lim := weir.Must(weir.New(weir.Config{}))
	important := weir.WithPriority(ctx, weir.PriorityCritical)
	greeting, err := weir.Do(important, cpu.Admitter(lim), func(context.Context) (string, error) {
		return "however busy", nil
	})
	fmt.Println(greeting, err)
	// Output: however busy <nil>
}

func ExampleShedder_Admitter() {
	mon, err := load.New(load.Config{Sources: []load.Source{&load.CPU{}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := shed.New(mon, shed.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	set, err := bulkhead.New(bulkhead.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	handle, err := set.Handle("search")
	if err != nil {
		fmt.Println(err)
		return
	}
	permit, err := s.Admitter(handle).Acquire(context.Background()) // as returned by admitterFor of package weirhttp
	defer permit.Release()
	fmt.Println(err, s.Snapshot().Normal)
	// Output: <nil> 0
}
