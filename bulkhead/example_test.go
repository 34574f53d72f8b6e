package bulkhead_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/law"
)

func Example() {
	set, err := bulkhead.New(bulkhead.Config{
		Max: 50, // the size of the pool of connections
		ByKey: map[string]bulkhead.Compartment{
			"checkout": {
				Config: weir.Config{
					Initial: 20, Law: law.Fixed{},
					Queue: weir.Queue{Size: 20, Timeout: 200 * time.Millisecond},
				},
				Reserved: 10, // starts at once, whatever the others do
				Share:    3,
			},
			"search": {
				Config: weir.Config{Max: 40, Law: law.Band{Target: 100 * time.Millisecond}},
				Budget: 300 * time.Millisecond,
			},
		},
		Default: bulkhead.Compartment{Config: weir.Config{Initial: 5, Law: law.Fixed{}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = set.Do(context.Background(), "checkout", func(ctx context.Context) error {
		return nil // the work
	})
	fmt.Println(err, set.Snapshot().ByKey["checkout"].Completed)
	// Output: <nil> 1
}

// small is a set in which every key has one slot.
func small() *bulkhead.Set {
	set, err := bulkhead.New(bulkhead.Config{
		Default: bulkhead.Compartment{Config: weir.Config{Initial: 1, Law: law.Fixed{}}},
	})
	if err != nil {
		panic(err)
	}
	return set
}

func ExampleNew() {
	_, err := bulkhead.New(bulkhead.Config{
		Max: 10,
		ByKey: map[string]bulkhead.Compartment{
			"checkout": {Reserved: 8},
			"login":    {Reserved: 4},
		},
	})
	fmt.Println(err)
	// Output: weir: invalid configuration: bulkhead: ByKey["login"].Reserved is 4: want at most 2, which is what the keys before it leave of Max
}

func ExampleConfig_onEvent() {
	set, err := bulkhead.New(bulkhead.Config{
		Default: bulkhead.Compartment{Config: weir.Config{Initial: 1, Law: law.Fixed{}}},
		OnEvent: func(e weir.Event) { fmt.Println(e) }, // or weir.Log(slog.Default())
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, key := range []string{"search", "checkout", "search"} {
		set.TryAcquire(context.Background(), key)
	}
	// Output: search: refused: limit reached
}

func ExampleSet_Do() {
	set := small()
	ctx := context.Background()
	err := set.Do(ctx, "search", func(ctx context.Context) error {
		fmt.Println(set.Do(ctx, "search", func(context.Context) error { return nil }))
		return set.Do(ctx, "checkout", func(context.Context) error { return nil })
	})
	fmt.Println(err)
	// Output:
	// weir: limiter "search" refused: limit reached
	// <nil>
}

func ExampleSet_DoN() {
	s, err := bulkhead.New(bulkhead.Config{Default: bulkhead.Compartment{Config: weir.Config{Initial: 20}}})
	if err != nil {
		return
	}
	err = s.DoN(context.Background(), "export", 5, func(context.Context) error {
		fmt.Println(s.Snapshot().Total.InFlight, "slots")
		return nil
	})
	fmt.Println(err)
	// Output:
	// 5 slots
	// <nil>
}

func ExampleSet_Acquire() {
	set := small()
	serve := func(ctx context.Context) (err error) {
		permit, err := set.Acquire(ctx, "search")
		if err != nil {
			return err
		}
		defer permit.DoneWith(&err)
		return errors.New("index lost")
	}
	fmt.Println(serve(context.Background()))
	fmt.Println(set.Snapshot().ByKey["search"].Failed)
	// Output:
	// index lost
	// 1
}

func ExampleSet_AcquireN() {
	set, err := bulkhead.New(bulkhead.Config{Default: bulkhead.Compartment{Config: weir.Config{Initial: 20}}})
	if err != nil {
		return
	}
	export, err := set.AcquireN(context.Background(), "export", 10) // as heavy as ten
	if err != nil {
		return
	}
	defer export.Done(nil)
	fmt.Println(set.Snapshot().ByKey["export"].InFlight)
	// Output: 10
}

func ExampleSet_TryAcquire() {
	set := small()
	first, err := set.TryAcquire(context.Background(), "search")
	fmt.Println(err)
	defer first.Done(nil)
	_, err = set.TryAcquire(context.Background(), "search")
	fmt.Println(err)
	// Output:
	// <nil>
	// weir: limiter "search" refused: limit reached
}

func ExampleSet_Config() {
	set := small()
	c := set.Config()
	c.MaxKeys = 100 // and nothing else
	fmt.Println(set.Update(c), set.Snapshot().MaxKeys)
	// Output: <nil> 100
}

func ExampleSet_Handle() {
	set := small()
	search, err := set.Handle("search") // once
	if err != nil {
		return
	}
	for range 3 { // on each request
		_ = search.Do(context.Background(), func(context.Context) error { return nil })
	}
	fmt.Println(search.Key(), set.Snapshot().ByKey["search"].Completed)
	// Output: search 3
}

func ExampleHandle_Acquire() {
	search, err := small().Handle("search")
	if err != nil {
		return
	}
	permit, err := search.Acquire(context.Background())
	fmt.Println(err)
	permit.Done(nil)
	// Output: <nil>
}

func ExampleSet_Update() {
	set := small()
	permit, _ := set.TryAcquire(context.Background(), "search")
	defer permit.Done(nil)
	err := set.Update(bulkhead.Config{
		ByKey: map[string]bulkhead.Compartment{"search": {Config: weir.Config{Initial: 8, Law: law.Fixed{}}}},
	})
	search := set.Snapshot().ByKey["search"]
	fmt.Println(err, search.InFlight, "of", search.Limit)
	// Output: <nil> 1 of 8
}

// A fleet of processes shares 40 connections, and this one learns its part of them.
func ExampleSet_SetMax() {
	set, err := bulkhead.New(bulkhead.Config{
		Max:   20,
		ByKey: map[string]bulkhead.Compartment{"checkout": {Reserved: 8}, "login": {Reserved: 4}},
	})
	if err != nil {
		return
	}
	for _, slots := range []int{20, 6, 0} {
		if err := set.SetMax(slots); err != nil {
			fmt.Println(err)
		}
		s := set.Snapshot()
		_, err := set.TryAcquire(context.Background(), "checkout")
		fmt.Println(s.Max, "slots, reserved", s.ByKey["checkout"].Reserved, "and", s.ByKey["login"].Reserved,
			"admitted:", err == nil)
	}
	// Output:
	// 20 slots, reserved 8 and 4 admitted: true
	// 6 slots, reserved 4 and 2 admitted: true
	// 0 slots, reserved 0 and 0 admitted: false
}

// A tap refuses work of a key before it is read.
func ExampleHandle_Full() {
	set := small()
	search, err := set.Handle("search")
	if err != nil {
		panic(err)
	}
	fmt.Println(search.Full(context.Background()))
	set.Close()
	fmt.Println(search.Full(context.Background()))
	// Output:
	// <nil>
	// weir: limiter "search" refused: closed
}

func ExampleSet_Full() {
	set := small()
	fmt.Println(set.Full(context.Background(), "search"))
	fmt.Println(set.Full(context.Background(), ""))
	// Output:
	// <nil>
	// weir: refused: bulkhead: key of 0 bytes: want 1 to 256
}

func ExampleSet_Snapshot() {
	set := small()
	for _, key := range []string{"search", "search", "checkout"} {
		_ = set.Do(context.Background(), key, func(context.Context) error { return nil })
	}
	s := set.Snapshot()
	fmt.Println(s.ByKey["search"].Completed, s.ByKey["checkout"].Completed, s.Total.Completed)
	// Output: 2 1 3
}

func ExampleSet_Close() {
	set := small()
	set.Close()
	_, err := set.Acquire(context.Background(), "search")
	fmt.Println(err)
	// Output: weir: limiter "search" refused: closed
}

func ExampleSet_Shutdown() {
	set := small()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	fmt.Println(set.Shutdown(ctx))
	// Output: <nil>
}
