package window

import (
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkMeter measures the cost of one piece of work: Flow, Start, Flow, Done. Of 64 in
// flight a random one ends, so that latencies are exponential with a mean of 2.5 ms.
func BenchmarkMeter(b *testing.B) {
	const inflight = 64
	r := rand.New(rand.NewPCG(1, 2))
	picks := make([]uint8, 4096)
	for i := range picks {
		picks[i] = uint8(r.IntN(inflight))
	}
	m := New(0, 10*time.Second)
	var starts [inflight]int64
	for range starts {
		m.Start(0, inflight)
	}
	now, i := int64(0), 0
	b.ReportAllocs()
	for b.Loop() {
		slot := &starts[picks[i&4095]&(inflight-1)]
		i++
		now += 20_000
		m.Flow(now, inflight, true)
		m.Done(*slot, now, 1, Success)
		now += 20_000
		m.Flow(now, inflight-1, false)
		m.Start(now, inflight)
		*slot = now
	}
}

func BenchmarkQuantile(b *testing.B) {
	m := New(0, time.Hour)
	for _, v := range lognormal(100_000) {
		m.latencies.add(m.side, v)
		m.current.succeed(v)
	}
	b.ReportAllocs()
	for b.Loop() {
		m.Quantile(0.95)
	}
}

// lognormal returns latencies around 30 ms, from 1 ms to 1 s.
func lognormal(n int) []int64 {
	r := rand.New(rand.NewPCG(1, 2))
	v := make([]int64, n)
	for i := range v {
		v[i] = lognormalOf(r)
	}
	return v
}
