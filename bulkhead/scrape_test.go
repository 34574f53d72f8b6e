package bulkhead_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/histogram"
)

var scrape = flag.Duration("scrape", 0, "with -bench Scrape: how long each turn lasts")

// BenchmarkScrape prints how much longer admission takes while a reader takes a snapshot of 10,000
// keys every 2 s, in five pairs of turns without and with the reader.
//
//	go test ./bulkhead -run '^$' -bench Scrape -scrape 6s
func BenchmarkScrape(b *testing.B) {
	if *scrape == 0 {
		b.Skip("takes a minute and more: ask for it with -scrape 6s")
	}
	const keys = 10_000
	for name, slots := range map[string]int{"cap": 1000, "none": 0} {
		b.Run("cap="+name, func(b *testing.B) {
			set := newSet(b, bulkhead.Config{
				Max: slots, MaxKeys: keys,
				Default: bulkhead.Compartment{Config: weir.Config{Histograms: true}},
			})
			names := make([]string, keys)
			for i := range names {
				names[i] = "key " + strconv.Itoa(i)
				for range 30 {
					pass(set, names[i])
				}
			}
			read := func() { set.Snapshot() }
			var p99, p999 []float64
			for range 5 {
				without := admissions(set, names, nil)
				with := admissions(set, names, read)
				p99 = append(p99, ratio(with, without, 0.99))
				p999 = append(p999, ratio(with, without, 0.999))
				b.Logf("p99 %v to %v, p99.9 %v to %v", without.Quantile(0.99), with.Quantile(0.99), without.Quantile(0.999), with.Quantile(0.999))
			}
			slices.Sort(p99)
			slices.Sort(p999)
			b.Logf("p99 times %.2f, p99.9 times %.2f", p99, p999)
			b.ReportMetric(p99[2], "p99-times")
			b.ReportMetric(p999[2], "p99.9-times")
			begin := time.Now()
			read()
			b.ReportMetric(float64(time.Since(begin).Microseconds())/keys, "us/key")
		})
	}
}

func ratio(with, without *histogram.Snapshot, q float64) float64 {
	return float64(with.Quantile(q)) / float64(without.Quantile(q))
}

func pass(set *bulkhead.Set, key string) {
	if permit, err := set.Acquire(context.Background(), key); err == nil {
		permit.Done(nil)
	}
}

// admissions is how long it takes to be admitted and to give the slot back, while the reader runs every 2 s.
func admissions(set *bulkhead.Set, keys []string, read func()) *histogram.Snapshot {
	var stop atomic.Bool
	var all sync.WaitGroup
	var mu sync.Mutex
	counts := map[int]uint64{}
	for range max(1, runtime.GOMAXPROCS(0)-1) { // the reader has a processor of its own
		all.Go(func() {
			mine := map[int]uint64{}
			for !stop.Load() {
				key := keys[rand.IntN(len(keys))]
				begin := time.Now()
				pass(set, key)
				mine[histogram.Index(time.Since(begin))]++
			}
			mu.Lock()
			defer mu.Unlock()
			for i, n := range mine {
				counts[i] += n
			}
		})
	}
	end := time.After(*scrape)
	for tick := time.Tick(2 * time.Second); !stop.Load(); {
		select {
		case <-end:
			stop.Store(true)
		case <-tick:
			if read != nil {
				read()
			}
		}
	}
	all.Wait()
	s := &histogram.Snapshot{}
	for i, n := range counts {
		s.Buckets = append(s.Buckets, histogram.Bucket{Index: i, Count: n})
		s.Count += n
	}
	return s.Add(nil) // sorted
}
