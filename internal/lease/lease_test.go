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

var told = lease.Config{
	ID: "a", Cap: 10, Weight: 1, Fallback: lease.Local, Refresh: time.Second, TTL: 10 * time.Second, Grace: time.Second, Forget: time.Hour,
}

func value(t *testing.T, message any) []byte {
	t.Helper()
	return must.Have(json.Marshal(message))(t)
}

// TestAllocatorAdvises: a report of a member comes back as advice about it, for a TTL. A member
// without a report learns the latency.
func TestAllocatorAdvises(t *testing.T) {
	now := time.Second
	n := lease.NewNode(told, now)
	n.Synced(false)
	rev := uint64(0)
	read := func(key string, text []byte) {
		rev++
		must.Have(n.Read(now, lease.Entry{Key: key, Value: text, Rev: rev}))(t)
	}
	sent, reports := map[string]time.Duration{}, map[string]*law.Report{}
	grants := map[string]lease.Grant{}
	second := func() {
		for _, id := range []string{"b", "c", "idle"} {
			g := grants[id]
			sent[id] = now
			read(lease.WantPrefix+id, value(t, lease.Want{
				Epoch: n.Leader(), Applied: g.Number, Settled: true, Sent: now, Cap: 10, Weight: 1, Need: 1, Held: g.Share, Report: reports[id],
			}))
		}
		for _, w := range n.Tick(now, func(int) lease.Load { return lease.Load{} }) {
			if id, grant := strings.CutPrefix(w.Key, lease.GrantPrefix); grant && id != "a" {
				var g lease.Grant
				must.Do(t, json.Unmarshal(w.Value, &g))
				grants[id] = g
				continue
			}
			read(w.Key, w.Value)
		}
		now += time.Second
	}
	for range 30 {
		second()
	}
	if g := grants["b"]; g.Number == 0 || g.Advice != nil {
		t.Fatalf("%+v without a report", g)
	}
	reports["b"] = &law.Report{NoLoad: 20 * time.Millisecond, Target: 10, Rate: 100, Reached: true}
	reports["c"] = &law.Report{NoLoad: 40 * time.Millisecond, Target: 30, Rate: 100, Reached: true}
	for range 5 {
		second()
	}
	g := grants["c"]
	if g.Advice == nil || *g.Advice != (law.Advice{Members: 2, NoLoad: 20 * time.Millisecond, Slower: 0.5, Share: 2.0 / 3}) {
		t.Fatalf("%+v", g.Advice)
	}
	if g.About == 0 || g.About < sent["c"]-time.Second {
		t.Errorf("advice about the report of %v: the last was sent at %v", g.About, sent["c"])
	}
	if g := grants["idle"]; g.Advice == nil || *g.Advice != (law.Advice{Members: 2, NoLoad: 20 * time.Millisecond}) || g.About != 0 {
		t.Errorf("%+v for a member without a report", g.Advice)
	}
	reports = nil
	for range 15 {
		second()
	}
	if g := grants["c"]; g.Advice != nil {
		t.Errorf("%+v 15 s after the last report", g.Advice)
	}
}

// TestMemberTakesAdvice: a member takes each advice once, and none about a report from before the
// last advice or after the end of its lease.
func TestMemberTakesAdvice(t *testing.T) {
	now := time.Second
	n := lease.NewNode(told, now)
	number := uint64(0)
	grant := func(answers, about time.Duration) (law.Advice, bool) {
		number++
		must.Have(n.Read(now, lease.Entry{Key: lease.GrantPrefix + "a", Rev: number, Value: value(t, lease.Grant{
			Epoch: lease.Epoch{N: 1, ID: "b"}, Number: number, Answers: answers, TTL: told.TTL, Share: 1,
			Advice: &law.Advice{Members: int(number)}, About: about,
		})}))(t)
		return n.Advice()
	}
	if a, ok := grant(now, 0); !ok || a.Members != 1 {
		t.Errorf("%+v, %v: want the first advice", a, ok)
	}
	if a, ok := n.Advice(); ok {
		t.Errorf("%+v for the second time", a)
	}
	now += 2 * time.Second
	if a, ok := grant(now, 500*time.Millisecond); ok {
		t.Errorf("%+v about a report of before the last advice", a)
	}
	if a, ok := grant(now, now-time.Millisecond); !ok || a.Members != 3 {
		t.Errorf("%+v, %v about the last report", a, ok)
	}
	use := func(int) lease.Load { return lease.Load{} }
	n.Tick(now, use)
	if a, ok := n.Advice(); ok {
		t.Errorf("%+v while the lease lasts", a)
	}
	n.Tick(now+told.TTL, use)
	if a, ok := n.Advice(); !ok || a != (law.Advice{}) {
		t.Errorf("%+v, %v after the lease: want none", a, ok)
	}
}

// TestReportIsRepeated: a store may show only every other want, so each has the report until there
// is advice, and no older one once the law has taken that.
func TestReportIsRepeated(t *testing.T) {
	now := time.Second
	n := lease.NewNode(told, now)
	report := &law.Report{NoLoad: time.Millisecond, Rate: 1}
	reports := func() bool {
		now += told.Refresh
		for _, w := range n.Tick(now, func(int) lease.Load { return lease.Load{Report: report} }) {
			if w.Key == lease.WantPrefix+"a" {
				return strings.Contains(string(w.Value), "no_load")
			}
		}
		t.Fatal("no want in a refresh")
		return false
	}
	for range 2 {
		if !reports() {
			t.Error("no report in a want before advice")
		}
	}
	must.Have(n.Read(now, lease.Entry{Key: lease.GrantPrefix + "a", Rev: 1, Value: value(t, lease.Grant{
		Epoch: lease.Epoch{N: 1, ID: "b"}, Number: 1, Answers: now, TTL: told.TTL, Share: 1, Advice: &law.Advice{Members: 1}, About: now,
	})}))(t)
	answered := report
	if report = new(*report); reports() {
		t.Error("a report before the law has taken advice, which is about an earlier one")
	}
	if _, ok := n.Advice(); !ok {
		t.Fatal("no advice")
	}
	if report = answered; reports() {
		t.Error("a report of before the advice")
	}
	if report = new(*report); !reports() {
		t.Error("no report after the advice")
	}
}

// TestForeignValues: a value that no member or allocator writes is an error, and changes nothing.
func TestForeignValues(t *testing.T) {
	epoch := lease.Epoch{N: 1, ID: "b"}
	grant := func(change func(*lease.Grant)) any {
		g := lease.Grant{Epoch: epoch, Number: 1, Answers: time.Second, TTL: told.TTL, Share: 1}
		change(&g)
		return g
	}
	for what, e := range map[string]struct {
		key   string
		value any
	}{
		"advice":             {lease.GrantPrefix + "a", grant(func(g *lease.Grant) { g.Advice = &law.Advice{Slower: -1} })},
		"a lease of no time": {lease.GrantPrefix + "a", grant(func(g *lease.Grant) { g.TTL = 0 })},
		"an endless lease":   {lease.GrantPrefix + "a", grant(func(g *lease.Grant) { g.TTL = time.Hour + 1 })},
		"a negative share":   {lease.GrantPrefix + "a", grant(func(g *lease.Grant) { g.Keep = -1 })},
		"a huge share":       {lease.GrantPrefix + "a", grant(func(g *lease.Grant) { g.Share = lease.MostSlots + 1 })},
		"the last epoch":     {lease.GrantPrefix + "a", grant(func(g *lease.Grant) { g.Epoch.N = 1 << 62 })},
		"a long value":       {lease.GrantPrefix + "a", grant(func(g *lease.Grant) { g.Epoch.ID = strings.Repeat("b", 1024) })},
		"a blind year":       {lease.LeaderKey, lease.Leader{Epoch: epoch, Blind: 24*time.Hour + 1}},
		"a blind past":       {lease.LeaderKey, lease.Leader{Epoch: epoch, Blind: -1}},
	} {
		n := lease.NewNode(told, time.Second)
		_, err := n.Read(time.Second, lease.Entry{Key: e.key, Rev: 1, Value: value(t, e.value)})
		if err == nil || n.Share() == 1 || n.Leased() || n.Leader() == epoch {
			t.Errorf("%s: %v, a share of %d, leader %v", what, err, n.Share(), n.Leader())
		}
	}
}

// TestMemberOnItsOwn: it writes its want once in a refresh, though its share is the largest.
func TestMemberOnItsOwn(t *testing.T) {
	n := lease.NewNode(told, time.Second)
	wants := 0
	for now := time.Second; now < 11*time.Second; now += told.Refresh / 4 {
		for _, w := range n.Tick(now, func(int) lease.Load { return lease.Load{Need: 5} }) {
			if w.Key == lease.WantPrefix+"a" {
				wants++
			}
		}
	}
	if n.Share() != lease.MostSlots || wants != 10 {
		t.Errorf("a share of %d, and %d wants in ten refreshes", n.Share(), wants)
	}
}

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

// BenchmarkAllocator measures a second of an allocator of 1,000 members, of which each writes its
// want: the processor time, and the messages and bytes that it writes. Members that learn together
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
