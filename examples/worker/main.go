// Worker sends mail from a queue with up to 64 workers. The mail server takes 8 mails at once, of
// 20 ms each: 400 a second. Beyond that, mails slow each other down: with twice as many at once,
// each takes four times as long.
//
//	go run ./examples/worker
//
// With all 64 workers about 50 mails a second go out. A pool that sizes itself starts with
// 2, finds the right number for the mail server within seconds, and sends 300 to 350 a
// second. It measures the rate and the latency of the mails.
package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/examples/internal/crowd"
	"github.com/weir-go/weir/pool"
)

const workers = 64

func main() { crowd.Main(run) }

// A server is shared by the jobs.
type server struct{ busy atomic.Int64 }

func (s *server) send(context.Context) (any, error) {
	crowding := max(1, float64(s.busy.Add(1))/8)
	defer s.busy.Add(-1)
	time.Sleep(time.Duration(crowding * crowding * float64(20*time.Millisecond)))
	return nil, nil
}

func run(ctx context.Context, show crowd.Show) error {
	fmt.Fprintln(show.Out, "The mail server can send 400 a second, 8 at once. With more at once, all of them become slower.")

	fmt.Fprintf(show.Out, "\nWith %d workers:\n", workers)
	without, err := work(ctx, show, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(show.Out, "\nWith pool.ByLaw, which finds how many of the %d suit:\n", workers)
	with, err := work(ctx, show, pool.ByLaw{Initial: 2})
	if err != nil {
		return err
	}
	fmt.Fprintf(show.Out, "\nIn the second half, %d mails were sent with all workers, and %d by the pool that sizes itself.\n", without, with)
	return nil
}

// work sends mail until the time is up, and returns the number sent in the second half.
func work(ctx context.Context, show crowd.Show, scaler pool.Scaler) (second int, err error) {
	slots, err := capacity.New(capacity.Vector{"slots": workers})
	if err != nil {
		return 0, err
	}
	mail, start := new(server), time.Now()
	p, err := pool.New(pool.Config{Capacity: slots, Scaler: scaler, Source: pool.Seq(func(yield func(pool.Task) bool) {
		for time.Since(start) < show.Each && yield(pool.Task{Run: mail.send}) {
		}
	})})
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(show.Out, "%8s %6s %8s\n", "second", "sent", "workers")
	size, sent, seconds := int64(workers), 0, 0
	for ev, err := range p.Run(ctx) {
		switch {
		case err != nil:
			return 0, err
		case ev.Kind == pool.Decided:
			size = ev.Decision.To
		case ev.Kind == pool.Done:
			if sent++; time.Since(start) > show.Each/2 && time.Since(start) <= show.Each {
				second++
			}
		}
		for ; seconds < int(min(time.Since(start), show.Each)/time.Second); sent = 0 {
			seconds++
			fmt.Fprintf(show.Out, "%8d %6d %8d\n", seconds, sent, size)
		}
	}
	return second, nil
}
