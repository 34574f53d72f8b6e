package weirprom_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/histogram"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/metrics"
	"github.com/weir-go/weir/weirprom"
)

var scrape = flag.Duration("scrape", 0, "with -bench Scrape: how long each turn lasts")

const keys = 10_000

// BenchmarkScrape prints how much longer admission takes while 10,000 keys are scraped every 2 s,
// as the median of five pairs of turns without and with the scrapes. All keys count in the totals
// of the set; 100 of them, or all, have series.
//
//	scripts/all go test ./weirprom -run '^$' -bench Scrape -benchtime 1x -scrape 10s -timeout 1h
func BenchmarkScrape(b *testing.B) {
	if *scrape == 0 {
		b.Skip("takes minutes: ask for it with -scrape 10s")
	}
	for _, slots := range []int{1000, 0} {
		for _, shown := range []int{100, keys} {
			b.Run(fmt.Sprintf("cap=%d/series=%d", slots, shown), func(b *testing.B) {
				set, names := many(b, bulkhead.Config{Max: slots})
				reg := prometheus.NewRegistry()
				reg.MustRegister(weirprom.New(metrics.Sources{Sets: map[string]*bulkhead.Set{"routes": set}, MaxKeys: shown}))
				read := func() {
					if _, err := reg.Gather(); err != nil {
						b.Error(err)
					}
				}
				var p99, p999 []float64
				for range 5 {
					without, with := admissions(set, names, nil), admissions(set, names, read)
					p99 = append(p99, ratio(with, without, 0.99))
					p999 = append(p999, ratio(with, without, 0.999))
					b.Logf("p99 %v to %v, p99.9 %v to %v", without.Quantile(0.99), with.Quantile(0.99), without.Quantile(0.999), with.Quantile(0.999))
				}
				b.ReportMetric(middle(p99), "p99-times")
				b.ReportMetric(middle(p999), "p99.9-times")
			})
		}
	}
}

// BenchmarkGather prints which share of a registry's Gather the collector takes, and how long that
// is, with 10,000 keys.
//
//	scripts/all go test ./weirprom -run '^$' -bench Gather -benchtime 5x
func BenchmarkGather(b *testing.B) {
	for _, shown := range []int{100, keys} {
		b.Run(fmt.Sprintf("series=%d", shown), func(b *testing.B) {
			set, _ := many(b, bulkhead.Config{Max: 1000})
			collector := weirprom.New(metrics.Sources{Sets: map[string]*bulkhead.Set{"routes": set}, MaxKeys: shown})
			reg := prometheus.NewRegistry()
			reg.MustRegister(collector)
			must.Have(reg.Gather())(b)
			var share []float64
			for b.Loop() {
				begin := time.Now()
				collect(collector)
				ours := time.Since(begin)
				begin = time.Now()
				must.Have(reg.Gather())(b)
				share = append(share, float64(ours)/float64(time.Since(begin)))
			}
			b.ReportMetric(middle(share), "of-Gather")
		})
	}
}

// collect asks a collector and its metrics for all, as a registry does, and drops the result.
func collect(c prometheus.Collector) {
	collected := make(chan prometheus.Metric, 1000)
	var all sync.WaitGroup
	all.Go(func() {
		for m := range collected {
			if err := m.Write(&dto.Metric{}); err != nil {
				panic(err)
			}
		}
	})
	c.Collect(collected)
	close(collected)
	all.Wait()
}

// many is a set with keys that have all done some work.
func many(b *testing.B, c bulkhead.Config) (set *bulkhead.Set, names []string) {
	c.MaxKeys, c.Default.Config.Histograms = keys, true
	set = must.Have(bulkhead.New(c))(b)
	for i := range keys {
		names = append(names, "key "+strconv.Itoa(i))
		for range 30 {
			admit(set, names[i])
		}
	}
	return set, names
}

func middle(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

func ratio(with, without *histogram.Snapshot, q float64) float64 {
	return float64(with.Quantile(q)) / float64(without.Quantile(q))
}

func admit(set *bulkhead.Set, key string) {
	if permit, err := set.Acquire(context.Background(), key); err == nil {
		permit.Done(nil)
	}
}

// admissions is how long it takes to be admitted and to give the slot back, while the reader runs
// every 2 s.
func admissions(set *bulkhead.Set, keys []string, read func()) *histogram.Snapshot {
	var stop atomic.Bool
	var all sync.WaitGroup
	counts := make([]map[int]uint64, max(1, runtime.GOMAXPROCS(0)-1)) // the reader has a processor of its own
	for i := range counts {
		counts[i] = map[int]uint64{}
		all.Go(func() {
			for !stop.Load() {
				key := keys[rand.IntN(len(keys))]
				begin := time.Now()
				admit(set, key)
				counts[i][histogram.Index(time.Since(begin))]++
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
	sum := &histogram.Snapshot{}
	for _, mine := range counts {
		for i, n := range mine {
			sum = sum.Add(&histogram.Snapshot{Count: n, Buckets: []histogram.Bucket{{Index: i, Count: n}}})
		}
	}
	return sum
}
