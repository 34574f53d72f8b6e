package lease_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/lease"
)

// No entry of a store breaks a node, or gives the node a share that no grant can have.
func FuzzRead(f *testing.F) {
	f.Add(lease.LeaderKey, []byte(`{"epoch":{"n":1,"id":"me"},"sent":1,"blind":0}`), lease.GrantPrefix+"me", []byte(`{"epoch":{"n":1,"id":"me"},"number":1,"answers":1,"ttl":10000000000,"share":5,"keep":1}`))
	f.Add(lease.WantPrefix+"other", []byte(`{"epoch":{"n":9,"id":"x"},"weight":1,"need":5,"held":3,"sent":2}`), lease.LeaderKey, []byte(`{`))
	f.Add(lease.LeaderKey, []byte(`{"epoch":{"n":4611686018427387903,"id":""},"blind":86400000000000}`), lease.LeaderKey, []byte(nil))
	f.Fuzz(func(t *testing.T, key1 string, value1 []byte, key2 string, value2 []byte) {
		now := time.Second
		n := lease.NewNode(lease.Config{
			ID: "me", Cap: 10, Weight: 1, Refresh: time.Second, TTL: 10 * time.Second, Grace: time.Second, Forget: time.Minute,
		}, now)
		n.Synced(false)
		for i := range 200 {
			for k, v := range map[string][]byte{key1: value1, key2: value2} {
				_, _ = n.Read(now, lease.Entry{Key: k, Value: v, Rev: uint64(i + 1)})
			}
			n.Synced(true)
			for _, w := range n.Tick(now, func(share int) lease.Load { return lease.Load{Need: 20, Running: share} }) {
				_, _ = n.Read(now, lease.Entry{Key: w.Key, Value: w.Value, Rev: uint64(1000 + i)})
			}
			if s := n.Share(); s < 0 || s > lease.MostSlots {
				t.Fatalf("a share of %d", s)
			}
			now += time.Second / 2
			if wake := n.Wake(now); wake < now {
				t.Fatalf("wakes at %v, before %v", wake, now)
			}
		}
	})
}
