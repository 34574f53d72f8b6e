package weir_test

import (
	"context"
	"errors"
	"expvar"
	"fmt"
	"log"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

func search(context.Context, string) ([]string, error) { return []string{"a book", "a film"}, nil }

func ExampleNew() {
	lim, err := weir.New(weir.Config{
		Name: "search", Max: 200,
		Law:   law.Band{Target: 50 * time.Millisecond},
		Queue: weir.Queue{Size: 50, Timeout: 200 * time.Millisecond},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("starts from", lim.Snapshot().Limit)

	_, err = weir.New(weir.Config{Min: 10, Max: 5})
	fmt.Println(err)
	// Output:
	// starts from 20
	// weir: invalid configuration: Min is 10: want at most Max, which is 5
}

// At package level an error cannot be returned.
var database = weir.Must(weir.New(weir.Config{Name: "database", Max: 100}))

func ExampleMust() {
	fmt.Println(database.Snapshot().Name)
	// Output: database
}

func ExampleLimiter_Do() {
	lim := weir.Must(weir.New(weir.Config{Name: "search"}))
	err := lim.Do(context.Background(), func(ctx context.Context) error {
		hits, err := search(ctx, "weir")
		fmt.Println(len(hits), "hits")
		return err
	})
	if errors.Is(err, weir.ErrRefused) {
		fmt.Println("busy: answer 503, or from the cache")
	}
	// Output: 2 hits
}

func ExampleLimiter_DoN() {
	lim := weir.Must(weir.New(weir.Config{Initial: 100, Law: law.Fixed{}}))
	rows := []int{1, 2, 3}
	err := lim.DoN(context.Background(), len(rows), func(context.Context) error {
		fmt.Println(lim.Snapshot().InFlight, "slots for", len(rows), "rows")
		return nil
	})
	fmt.Println(err)
	// Output:
	// 3 slots for 3 rows
	// <nil>
}

func ExampleDo() {
	lim := weir.Must(weir.New(weir.Config{Name: "search"}))
	hits, err := weir.Do(context.Background(), lim, func(ctx context.Context) ([]string, error) {
		return search(ctx, "weir")
	})
	fmt.Println(hits, err)
	// Output: [a book a film] <nil>
}

func ExampleLimiter_Acquire() {
	lim := weir.Must(weir.New(weir.Config{Name: "search"}))
	find := func(ctx context.Context, query string) (hits []string, err error) {
		permit, err := lim.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		defer permit.DoneWith(&err)
		return search(ctx, query)
	}
	fmt.Println(find(context.Background(), "weir"))
	// Output: [a book a film] <nil>
}

func ExampleLimiter_AcquireN() {
	lim := weir.Must(weir.New(weir.Config{Name: "export", Max: 10, Initial: 10}))
	permit, err := lim.AcquireN(context.Background(), 8) // a full export takes eight slots
	if err != nil {
		return
	}
	fmt.Println("in flight:", lim.Snapshot().InFlight)

	_, err = lim.AcquireN(context.Background(), 11)
	fmt.Println(err)
	permit.Done(nil)
	// Output:
	// in flight: 8
	// weir: limiter "export" refused: too heavy
}

func ExampleLimiter_TryAcquire() {
	lim := weir.Must(weir.New(weir.Config{Name: "thumbnails", Max: 1}))
	ctx := context.Background() // the context of the request
	first, err := lim.TryAcquire(ctx)
	fmt.Println("first:", err)
	_, err = lim.TryAcquire(ctx)
	fmt.Println("second:", err)
	first.Done(nil)
	// Output:
	// first: <nil>
	// second: weir: limiter "thumbnails" refused: limit reached
}

func ExampleLimiter_Config() {
	lim := weir.Must(weir.New(weir.Config{Name: "search", Max: 100}))
	c := lim.Config()
	fmt.Println("starts from", c.Initial, "and decides every", c.Interval)

	c.Max = 200 // and nothing else
	fmt.Println(lim.Update(c), lim.Snapshot().Max)
	// Output:
	// starts from 4 and decides every 1s
	// <nil> 200
}

func ExampleRefusedError() {
	lim := weir.Must(weir.New(weir.Config{Name: "search", Max: 1}))
	busy, _ := lim.TryAcquire(context.Background())
	defer busy.Done(nil)

	_, err := lim.Acquire(context.Background())
	var refused *weir.RefusedError
	if errors.As(err, &refused) {
		fmt.Println(refused.Limiter, "refused:", refused.Reason)
		fmt.Println("Retry-After:", refused.RetryAfter)
	}
	fmt.Println(errors.Is(err, weir.ErrRefused), errors.Is(err, weir.ErrLimitReached), errors.Is(err, weir.ErrClosed))
	// Output:
	// search refused: limit reached
	// Retry-After: 0s
	// true true false
}

func ExampleLimiter_Update() {
	lim := weir.Must(weir.New(weir.Config{Name: "search", Max: 200}))
	// An incident: pin the limit by hand.
	err := lim.Update(weir.Config{Name: "search", Min: 5, Max: 5, Law: law.Fixed{}})
	fmt.Println(lim.Snapshot().Limit, err)
	// An invalid configuration is refused whole, and the old one stays.
	err = lim.Update(weir.Config{Name: "search", Max: -1})
	fmt.Println(lim.Snapshot().Limit, err)
	// Output:
	// 5 <nil>
	// 5 weir: invalid configuration: Max is -1: want 0 (the default) or 1 to 1000000000
}

func ExampleLimiter_Snapshot() {
	lim := weir.Must(weir.New(weir.Config{Name: "search", Max: 2}))
	for range 3 {
		_, _ = lim.TryAcquire(context.Background()) // work that outlasts this example
	}
	s := lim.Snapshot()
	fmt.Printf("limit %d, in flight %d, admitted %d, refused %v\n", s.Limit, s.InFlight, s.Admitted, s.Refused)
	// Output: limit 2, in flight 2, admitted 2, refused map[limit reached:1]
}

func ExampleLimiter_History() {
	lim := weir.Must(weir.New(weir.Config{Initial: 20}))
	_ = lim.Update(weir.Config{Max: 14})
	_ = lim.Update(weir.Config{Min: 16})
	for _, change := range lim.History() {
		fmt.Println(change)
	}
	// Output:
	// configuration changed: cut 20 to 14
	// configuration changed: raised 14 to 16
}

func ExampleChange_String() {
	change := weir.Change{
		From: 20, To: 14,
		Reason: law.Reason{Code: law.Above, Signal: 950, Have: 0.131, Want: 0.115},
	}
	fmt.Println(change)
	// Output: p95 131ms above 115ms: cut 20 to 14
}

func ExampleEvent() {
	lim := weir.Must(weir.New(weir.Config{
		Name: "search", Max: 1,
		OnEvent: func(e weir.Event) { fmt.Println(e.Seq, e) },
	}))
	busy, _ := lim.TryAcquire(context.Background())
	_, _ = lim.TryAcquire(context.Background())
	busy.Done(nil)
	_ = lim.Update(weir.Config{Name: "search", Min: 3, OnEvent: func(e weir.Event) { fmt.Println(e.Seq, e) }})
	// Output:
	// 1 search: refused: limit reached
	// 2 search: limit changed: configuration changed: raised 1 to 3
}

func ExampleLimiter_String() {
	lim := weir.Must(weir.New(weir.Config{Name: "search"}))
	expvar.Publish("search", lim) // GET /debug/vars shows its snapshot
	fmt.Println(expvar.Get("search").String()[:40])
	// Output: {"name":"search","limit":4,"min":1,"max"
}

func ExampleWithPriority() {
	lim := weir.Must(weir.New(weir.Config{Name: "checkout", Queue: weir.Queue{Size: 100}}))
	ctx := weir.WithPriority(context.Background(), weir.PriorityHigh) // goes ahead in the queue, if it has to wait
	err := lim.Do(ctx, func(ctx context.Context) error {
		fmt.Println("runs with priority", weir.PriorityFrom(ctx))
		return nil
	})
	fmt.Println(err)
	// Output:
	// runs with priority high
	// <nil>
}

func ExampleWithTenant() {
	lim := weir.Must(weir.New(weir.Config{Name: "search", Queue: weir.Queue{Size: 100, Tenants: 1024}}))
	ctx := weir.WithTenant(context.Background(), "acme") // a party that must not take the others' share
	err := lim.Do(ctx, func(ctx context.Context) error {
		fmt.Println("runs for", weir.TenantFrom(ctx))
		return nil
	})
	if errors.Is(err, weir.ErrTenantShare) {
		fmt.Println("acme already has more than its share")
	}
	// Output: runs for acme
}

func ExampleLimiter_Shutdown() {
	lim := weir.Must(weir.New(weir.Config{Name: "search"}))
	permit, err := lim.Acquire(context.Background())
	if err != nil {
		return
	}
	go permit.Done(nil) // work that is still running

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	fmt.Println(lim.Shutdown(ctx), lim.Snapshot().InFlight)
	// Output: <nil> 0
}

func ExampleLimiter_Close() {
	lim := weir.Must(weir.New(weir.Config{Name: "search"}))
	lim.Close()
	_, err := lim.Acquire(context.Background())
	fmt.Println(err, errors.Is(err, weir.ErrClosed))
	// Output: weir: limiter "search" refused: closed true
}

// Shadow mode shows the refusals of a limit before it refuses.
func ExampleConfig_shadow() {
	lim := weir.Must(weir.New(weir.Config{Name: "search", Max: 2, Shadow: true}))
	for range 5 {
		_, _ = lim.TryAcquire(context.Background()) // work that outlasts this example
	}
	s := lim.Snapshot()
	fmt.Println(s.Admitted, "admitted,", s.WouldRefuse, "would have been refused")
	// Output: 5 admitted, 3 would have been refused
}

func ExampleClassify() {
	errNotFound := errors.New("not found")
	lim := weir.Must(weir.New(weir.Config{
		Classify: func(err error) weir.Outcome {
			if errors.Is(err, errNotFound) {
				return weir.Success // a good answer, and its latency counts
			}
			return weir.Classify(err)
		},
	}))
	for _, err := range []error{nil, errNotFound, context.Canceled, context.DeadlineExceeded, errors.New("boom")} {
		_ = lim.Do(context.Background(), func(context.Context) error { return err })
	}
	s := lim.Snapshot()
	fmt.Println(s.Samples, "samples,", s.Ignored, "ignored,", s.TimedOut, "timed out,", s.Failed, "failed")
	// Output: 2 samples, 1 ignored, 1 timed out, 1 failed
}

func ExampleQueue() {
	lim := weir.Must(weir.New(weir.Config{
		Name: "search", Max: 1,
		Queue: weir.Queue{Size: 1, Timeout: time.Millisecond},
	}))
	busy, _ := lim.TryAcquire(context.Background())
	_, err := lim.Acquire(context.Background()) // waits for a slot that does not come free
	fmt.Println(err)
	busy.Done(nil)
	// Output: weir: limiter "search" refused: queue timeout
}

// If callers set deadlines, the adaptive queue needs no size: it keeps the work that can
// still finish in time.
func ExampleQueue_adaptive() {
	lim := weir.Must(weir.New(weir.Config{Name: "search", Queue: weir.Queue{Discipline: weir.Adaptive}}))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	fmt.Println(lim.Do(ctx, func(context.Context) error { return nil }))
	// Output: <nil>
}

func ExampleSum() {
	reads := weir.Must(weir.New(weir.Config{Name: "reads", Initial: 5}))
	writes := weir.Must(weir.New(weir.Config{Name: "writes", Initial: 2}))
	permit, _ := writes.TryAcquire(context.Background())
	defer permit.Release()
	fmt.Println(weir.Sum(reads, writes).InFlight, "of", weir.Sum(reads, writes).Limit)
	// Output: 1 of 7
}

// After a restart, a limiter continues from the state of the one before.
func ExampleLimiter_Restore() {
	before := weir.Must(weir.New(weir.Config{Name: "search"}))
	state := before.Save() // keep it in a file, for example

	after := weir.Must(weir.New(weir.Config{Name: "search"}))
	if err := after.Restore(state); err != nil {
		log.Print(err) // it starts as if there were no state
	}
	fmt.Println(after.Snapshot().Limit)
	// Output: 4
}

// A limiter with histograms gives an exporter the latencies and queue waits of all work since
// the start.
func ExampleConfig_histograms() {
	type traceID struct{} // tracing libraries have a function for this
	lim := weir.Must(weir.New(weir.Config{
		Name:       "search",
		Histograms: true,
		Exemplar: func(ctx context.Context) string {
			id, _ := ctx.Value(traceID{}).(string)
			return id
		},
	}))

	ctx := context.WithValue(context.Background(), traceID{}, "4bf92f3577b34da6")
	_ = lim.Do(ctx, func(context.Context) error { return nil })

	s := lim.Snapshot()
	fmt.Println(s.Latencies.Count, "of", s.Completed, "measured;", s.QueueWaits.Count, "waited;", s.Peak, "at once")
	fmt.Println("one of them:", s.Latencies.Exemplars[0].Label)
	// Output:
	// 1 of 1 measured; 0 waited; 1 at once
	// one of them: 4bf92f3577b34da6
}

// A metric shows reasons that have not happened yet as 0.
func ExampleReasons() {
	lim := weir.Must(weir.New(weir.Config{Name: "search"}))
	lim.Close()
	_, _ = lim.TryAcquire(context.Background())

	refused := lim.Snapshot().Refused
	for _, reason := range weir.Reasons()[:7] {
		fmt.Printf("weir_refused_total{reason=%q} %d\n", reason, refused[reason])
	}
	// Output:
	// weir_refused_total{reason="bad key"} 0
	// weir_refused_total{reason="tenant over its share"} 0
	// weir_refused_total{reason="queue full"} 0
	// weir_refused_total{reason="queue timeout"} 0
	// weir_refused_total{reason="deadline"} 0
	// weir_refused_total{reason="too heavy"} 0
	// weir_refused_total{reason="closed"} 1
}
