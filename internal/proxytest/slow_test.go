package proxytest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// beside is the result of a run beside slow clients.
type beside struct {
	goodput float64 // a second, within the deadline
	limit   float64 // its mean
	memory  float64 // megabytes
}

// runBeside sends six tenths of the upstream's capacity beside slow clients.
func runBeside(t *testing.T, clients int, during time.Duration, seed uint64, kinds ...slowKind) (r beside) {
	t.Run("", func(t *testing.T) { // so that its processes end
		u := upstream{20, 50 * time.Millisecond, 100 * time.Millisecond}
		up := startUpstream(t, u)
		p := startWeir(t, up)
		c := gather(p, clients, kinds...)
		defer c.disperse()

		ctx, stop := context.WithCancel(t.Context())
		var limits []float64
		var watcher sync.WaitGroup
		watcher.Go(func() {
			for wait(ctx, 200*time.Millisecond) {
				limits = append(limits, p.counts(t).limit)
			}
		})
		answers := openLoop{
			rate: 0.6 * u.capacity(), during: during, timeout: deadline, seed: seed, request: gets(t, p.url+"/work"),
		}.run(t.Context())
		stop()
		watcher.Wait()
		r = beside{
			goodput: float64(good(answers, 0, during)) / during.Seconds(),
			limit:   mean(limits),
			memory:  float64(p.memory(t)) / 1e6,
		}
	})
	return r
}

// TestSlowClients prints the results of other clients beside slow ones.
func TestSlowClients(t *testing.T) {
	trial(t)
	clients, during, pairs := either(1000, 60), either(time.Minute, 3*time.Second), either(5, 1)
	kinds := map[string][]slowKind{"slow and stalled bodies": {slowUp, slowDown, stalled}}
	if full() {
		for _, kind := range []slowKind{slowUp, slowDown, stalled, eventStream, webSocket} {
			kinds[kind.name] = []slowKind{kind}
		}
	}
	tb := newTable(t, fmt.Sprintf("beside %d slow clients for %v, medians of %d pairs", clients, during, pairs),
		"clients", "goodput without", "with", "ratio", "mean limit without", "with", "ratio", "MB more")
	for name, kinds := range kinds {
		var goodput, limit, more, before, after, limitBefore, limitAfter []float64
		for pair := range pairs {
			without := runBeside(t, 0, during, uint64(pair), kinds...)
			with := runBeside(t, clients, during, uint64(pair), kinds...)
			before, after = append(before, without.goodput), append(after, with.goodput)
			limitBefore, limitAfter = append(limitBefore, without.limit), append(limitAfter, with.limit)
			goodput = append(goodput, with.goodput/without.goodput)
			limit = append(limit, with.limit/without.limit)
			more = append(more, with.memory-without.memory)
		}
		tb.row(name, median(before), median(after), median(goodput), median(limitBefore), median(limitAfter), median(limit), median(more))
	}
}

// TestIdleConnections prints the memory of connections without a request.
func TestIdleConnections(t *testing.T) {
	trial(t)
	connections, pairs := either(9900, 500), either(5, 1) // 10,000 is the listener's default cap
	up := startUpstream(t, upstream{})
	more := map[string][]float64{}
	names := []string{}
	for pair := range pairs {
		for _, start := range []func(testing.TB, peer) peer{
			startPlain, func(t testing.TB, to peer) peer { return startWeir(t, to) },
		} {
			t.Run("", func(t *testing.T) {
				p := start(t, up)
				before := p.memory(t)
				c := gather(p, connections, idle)
				defer c.disperse()
				must.Happen(t, "all connections are open", func() bool { return p.files(t) >= connections })
				pause(either(5*time.Second, time.Second)) // for the garbage collector
				more[p.name] = append(more[p.name], float64(p.memory(t)-before)/1e6)
				if pair == 0 {
					names = append(names, p.name)
				}
			})
		}
	}
	tb := newTable(t, fmt.Sprintf("%d idle connections, medians of %d", connections, pairs), "proxy", "MB more", "KB each", "of ReverseProxy")
	for _, name := range names {
		mb := median(more[name])
		tb.row(name, mb, mb*1e3/float64(connections), median(pairwise(more[name], more[names[0]])))
	}
}
