package lease_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/lease"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// BenchmarkAllocator measures a second of an allocator of 1,000 members, of which each says what it
// needs: the processor time, and the messages and bytes that it writes. Members that learn together
// also report.
func BenchmarkAllocator(b *testing.B) {
	b.Run("sharing", func(b *testing.B) { benchmarkAllocator(b, nil) })
	b.Run("learning", func(b *testing.B) {
		benchmarkAllocator(b, &law.Report{NoLoad: 20 * time.Millisecond, Target: 5, Rate: 100, Reached: true})
	})
}

func benchmarkAllocator(b *testing.B, report *law.Report) {
	const members = 1000
	now := time.Second
	n := lease.NewNode(lease.Config{
		ID: "allocator", Cap: 5000, Weight: 1, Refresh: time.Second, TTL: 10 * time.Second, Grace: 30 * time.Second, Forget: time.Hour,
	}, now)
	n.Synced(false)
	use := func(share int) lease.Load { return lease.Load{Need: 5, Running: share} }
	rev := uint64(0)
	store := func(key string, value []byte) {
		rev++
		must.Have(n.Read(now, lease.Entry{Key: key, Value: value, Rev: rev}))(b)
	}
	applied := map[string]lease.Grant{}
	messages, bytes := 0, 0
	second := func(i int) {
		for m := range members {
			id := fmt.Sprintf("m%04d", m)
			g := applied[id]
			want := must.Have(json.Marshal(lease.Want{
				Epoch: n.Leader(), Applied: g.Number, Settled: true, Sent: now, Cap: 5000, Weight: 1,
				Need: (m + i/10) % 20, Held: g.Share, Running: g.Share, Keep: g.Keep, Report: report,
			}))(b)
			store(lease.WantPrefix+id, want)
		}
		for range 4 {
			for _, w := range n.Tick(now, use) {
				messages, bytes = messages+1, bytes+len(w.Key)+len(w.Value)
				switch id, grant := strings.CutPrefix(w.Key, lease.GrantPrefix); {
				case grant && id != "allocator":
					var g lease.Grant
					must.Do(b, json.Unmarshal(w.Value, &g))
					applied[id] = g
				default:
					store(w.Key, w.Value)
				}
			}
			now += 250 * time.Millisecond
		}
	}
	for i := range 120 { // past the wait of a first term
		second(i)
		n.Synced(true)
	}
	messages, bytes = 0, 0
	for i := 0; b.Loop(); i++ {
		second(i)
	}
	b.ReportMetric(float64(messages)/float64(b.N), "messages/op")
	b.ReportMetric(float64(bytes)/float64(b.N), "bytes/op")
	if !n.Leads() {
		b.Error("it does not lead any more")
	}
}
