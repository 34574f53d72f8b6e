package natspool_test

import (
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/natspool"
)

var (
	jobs  = flag.Int("jobs", 20_000, "how many jobs a benchmark runs")
	slots = flag.Int64("slots", 256, "how many at once")
)

// BenchmarkPool runs jobs that do nothing through a pool, and then as many through the same
// consumer by fetching and acknowledging batches as large as the pool.
//
//	scripts/all go test ./pool/natspool -run '^$' -bench Pool -benchtime 5x
func BenchmarkPool(b *testing.B) {
	l := local(b, b.TempDir())
	q := queue(b, l, natspool.Config{Stream: "bench"})
	consumer := must.Have(l.JetStream().Consumer(b.Context(), "bench", "weir"))(b)
	var pooled, raw, insisting time.Duration
	for b.Loop() {
		fill(b, l, *jobs)
		pooled += timed(func() { drain(b, q, func(int) {}) })
		fill(b, l, *jobs)
		insisting += timed(func() { fetch(b, consumer, func(m jetstream.Msg) error { return m.DoubleAck(b.Context()) }) })
		fill(b, l, *jobs)
		raw += timed(func() { fetch(b, consumer, jetstream.Msg.Ack) })
	}
	n := float64(b.N * *jobs)
	b.ReportMetric(n/pooled.Seconds(), "jobs/s")
	b.ReportMetric(n/insisting.Seconds(), "raw-confirmed/s")
	b.ReportMetric(n/raw.Seconds(), "raw/s")
	b.ReportMetric(insisting.Seconds()/pooled.Seconds(), "of-raw-confirmed")
	b.ReportMetric(raw.Seconds()/pooled.Seconds(), "of-raw")
}

func timed(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

// fill adds jobs.
func fill(b *testing.B, l *natspool.Local, n int) {
	for i := range n {
		if i%2000 == 0 { // fewer than may be on their way
			<-l.JetStream().PublishAsyncComplete()
		}
		must.Have(l.JetStream().PublishAsync("weir.jobs.bench", fmt.Appendf(nil, "job %d", i)))(b)
	}
	<-l.JetStream().PublishAsyncComplete()
}

// drain runs the jobs in a pool. After each job it calls each with the number of finished jobs.
func drain(b *testing.B, q *natspool.Queue, each func(done int)) {
	done := 0
	for ev, err := range newPool(b, q, *slots, pool.Config{Lookahead: int(*slots)}).Run(b.Context()) {
		if err != nil || ev.Kind != pool.Done || ev.Err != nil {
			b.Fatal(ev, err)
		}
		done++
		if each(done); done == *jobs {
			return
		}
	}
}

// fetch takes the jobs in batches, and acknowledges a batch together.
func fetch(b *testing.B, consumer jetstream.Consumer, acknowledge func(jetstream.Msg) error) {
	for done := 0; done < *jobs; {
		batch := must.Have(consumer.FetchNoWait(int(*slots)))(b)
		var acks sync.WaitGroup
		for m := range batch.Messages() {
			acks.Go(func() {
				if err := acknowledge(m); err != nil {
					b.Error(err)
				}
			})
			done++
		}
		acks.Wait()
	}
}
