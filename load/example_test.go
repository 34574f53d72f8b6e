package load_test

import (
	"context"
	"fmt"
	"runtime"

	"github.com/weir-go/weir/load"
)

// A tank is a source of one's own.
type tank struct{ filled float64 }

func (*tank) Name() string { return "tank" }

func (t *tank) Poll(context.Context) (load.Sample, error) {
	return load.Sample{Readings: []load.Reading{
		{Name: "litres", Value: t.filled, Limit: 200},
	}}, nil
}

func Example() {
	mon, err := load.New(load.Config{Sources: []load.Source{
		&tank{filled: 150},
		&load.Memory{Target: 1 << 40},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { _ = mon.Run(ctx) }()

	for !mon.Level(load.All).Valid || mon.Level(load.All).Degraded {
		runtime.Gosched() // until all have answered
	}
	level := mon.Level(load.All)
	fmt.Println(level.Load, level.Source, "-", level.Worst)
	// Output: 0.75 tank - litres 150 of 200
}

func ExampleNew() {
	_, err := load.New(load.Config{Sources: []load.Source{&tank{}}, Interval: -1})
	fmt.Println(err)
	// Output: load: invalid configuration: Interval is -1ns: want 0 (the default) or more
}
