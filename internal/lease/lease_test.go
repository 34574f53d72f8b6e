package lease_test

import (
	"encoding/json"
	"fmt"
	"slices"
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

func value(t testing.TB, message any) []byte {
	t.Helper()
	return must.Have(json.Marshal(message))(t)
}

// A hub is an allocator, the members that a test plays, and the store between them.
type hub struct {
	testing.TB
	*lease.Node
	now             time.Duration
	rev             uint64
	grants          map[string]lease.Grant // the last one of each member
	deleted         []string
	messages, bytes int
}

func newHub(t testing.TB, c lease.Config) *hub {
	h := &hub{TB: t, Node: lease.NewNode(c, time.Second), now: time.Second, grants: map[string]lease.Grant{}}
	h.Synced(false)
	return h
}

func (h *hub) read(key string, text []byte) {
	h.rev++
	must.Have(h.Read(h.now, lease.Entry{Key: key, Value: text, Rev: h.rev}))(h)
}

// say has a member write its want. It has applied its last grant.
func (h *hub) say(id string, w lease.Want) {
	g := h.grants[id]
	w.Epoch, w.Applied, w.Settled, w.Sent, w.Weight = h.Leader(), g.Number, true, h.now, 1
	w.Held, w.Running, w.Keep = g.Share, g.Share, g.Keep
	h.read(lease.WantPrefix+id, value(h, w))
}

// pass has the allocator act, and then passes time.
func (h *hub) pass(d time.Duration) {
	for _, w := range h.Tick(h.now, func(share int) lease.Load { return lease.Load{Running: share} }) {
		h.messages, h.bytes = h.messages+1, h.bytes+len(w.Key)+len(w.Value)
		switch id, grant := strings.CutPrefix(w.Key, lease.GrantPrefix); {
		case w.Value == nil:
			h.deleted = append(h.deleted, w.Key)
		case grant && id != told.ID:
			var g lease.Grant
			must.Do(h, json.Unmarshal(w.Value, &g))
			h.grants[id] = g
		default:
			h.read(w.Key, w.Value)
		}
	}
	h.Synced(true)
	h.now += d
}

// live has each member say its need for some seconds.
func (h *hub) live(seconds int, wants map[string]lease.Want) {
	for range seconds {
		for id, w := range wants {
			h.say(id, w)
		}
		h.pass(time.Second)
	}
}

// TestAllocatorAdvises: a report of a member comes back as advice about it, for a TTL. A member
// without a report learns the latency.
func TestAllocatorAdvises(t *testing.T) {
	h := newHub(t, told)
	wants := map[string]lease.Want{"b": {Cap: 10, Need: 1}, "c": {Cap: 10, Need: 1}, "idle": {Cap: 10, Need: 1}}
	h.live(30, wants)
	if g := h.grants["b"]; g.Number == 0 || g.Advice != nil {
		t.Fatalf("%+v without a report", g)
	}
	wants["b"] = lease.Want{Cap: 10, Need: 1, Report: &law.Report{NoLoad: 20 * time.Millisecond, Target: 10, Rate: 100, Reached: true}}
	wants["c"] = lease.Want{Cap: 10, Need: 1, Report: &law.Report{NoLoad: 40 * time.Millisecond, Target: 30, Rate: 100, Reached: true}}
	h.live(5, wants)
	g := h.grants["c"]
	if g.Advice == nil || *g.Advice != (law.Advice{Members: 2, NoLoad: 20 * time.Millisecond, Slower: 0.5, Share: 2.0 / 3}) {
		t.Fatalf("%+v", g.Advice)
	}
	if g.About == 0 || g.About < h.now-2*time.Second {
		t.Errorf("advice about the report of %v: the last was sent at %v", g.About, h.now-time.Second)
	}
	if g := h.grants["idle"]; g.Advice == nil || *g.Advice != (law.Advice{Members: 2, NoLoad: 20 * time.Millisecond}) || g.About != 0 {
		t.Errorf("%+v for a member without a report", g.Advice)
	}
	wants["c"] = lease.Want{Cap: 10, Need: 1}
	h.live(15, wants)
	if g := h.grants["c"]; g.Advice == nil || g.Advice.Members != 1 || g.About != 0 {
		t.Errorf("%+v about the report of %v, 15 s after it", g.Advice, g.About)
	}
	wants["b"] = lease.Want{Cap: 10, Need: 1}
	h.live(15, wants)
	if g := h.grants["c"]; g.Advice != nil {
		t.Errorf("%+v 15 s after the last report", g.Advice)
	}
}

// TestExtremeReport: a broken member must not break the allocator.
func TestExtremeReport(t *testing.T) {
	h := newHub(t, told)
	h.live(30, map[string]lease.Want{
		"b": {Cap: 10, Need: 1, Report: &law.Report{NoLoad: 1, Target: 5e-324, Rate: 100, Reached: true}},
		"c": {Cap: 10, Need: 1, Report: &law.Report{NoLoad: time.Hour, Target: 30, Rate: 1000, Reached: true}},
	})
	if b, c := h.grants["b"], h.grants["c"]; b.Share == 0 || c.Share == 0 {
		t.Errorf("grants %+v and %+v: want a share for each", b, c)
	}
}

// TestSharesAreSteady: a share that would move by less than a twentieth stays, which saves
// messages, unless slots are lacking.
func TestSharesAreSteady(t *testing.T) {
	c := told
	c.Cap, c.TTL = 1000, time.Minute
	h := newHub(t, c)
	shares := func(b, c int) [2]int {
		h.live(120, map[string]lease.Want{"b": {Cap: 1000, Need: b}, "c": {Cap: 1000, Need: c}})
		return [2]int{h.grants["b"].Share, h.grants["c"].Share}
	}
	before := shares(1000, 1000)
	if after := shares(1000, before[1]-before[1]/25); after != before {
		t.Errorf("shares of %v and then %v: want the same", before, after)
	}
	lower := lease.Want{Cap: 970, Need: 1000}
	h.live(30, map[string]lease.Want{"b": lower, "c": lower})
	if b, c := h.grants["b"].Share, h.grants["c"].Share; b+c > 970 {
		t.Errorf("shares of %d and %d of a cap that went down to 970", b, c)
	}
	h.live(4, map[string]lease.Want{"b": lower, "c": {Cap: 970, Need: 100}})
	if b := h.grants["b"].Share; b < 800 {
		t.Errorf("a share of %d four refreshes after another member needs less: want more than 800", b)
	}
}

// TestMemberThatIsGone: its keys are deleted once it has left. One that is silent is counted for as
// long as its work may last, and is no member any more.
func TestMemberThatIsGone(t *testing.T) {
	c := told
	c.Grace, c.Forget = time.Minute, time.Second
	h := newHub(t, c)
	all := map[string]lease.Want{"b": {Cap: 10, Need: 5}, "c": {Cap: 10, Need: 5}}
	h.live(120, all)
	if h.grants["b"].Share != 5 || h.grants["c"].Members != 3 {
		t.Fatalf("%+v", h.grants)
	}
	delete(all, "b")
	all["c"] = lease.Want{Cap: 10, Need: 10}
	h.live(30, all)
	if g := h.grants["c"]; g.Share != 5 || g.Members != 2 {
		t.Errorf("%+v, while the work of a silent member may still run", g)
	}
	all["d"] = lease.Want{Cap: 10, Need: 10}
	h.live(30, all)
	if c, d := h.grants["c"].Share, h.grants["d"].Share; c+d != 5 || c < 2 || d < 2 {
		t.Errorf("shares of %d and %d of the 5 slots beside a silent member: want 2 and 3", c, d)
	}
	h.live(60, all)
	if c, d := h.grants["c"].Share, h.grants["d"].Share; c != 5 || d != 5 {
		t.Errorf("shares of %d and %d once its work has ended: want 5 each", c, d)
	}
	h.deleted = nil
	h.say("c", lease.Want{Cap: 10, Leaving: true})
	h.pass(0)
	if want := []string{lease.WantPrefix + "c", lease.GrantPrefix + "c"}; !slices.Equal(h.deleted, want) {
		t.Errorf("deleted %q, want %q", h.deleted, want)
	}
}

// TestMemberTakesAdvice: a member takes each advice once, and none about a report from before the
// last advice or after the end of its lease.
func TestMemberTakesAdvice(t *testing.T) {
	now := time.Second
	n := lease.NewNode(told, now)
	number := uint64(0)
	use := func(int) lease.Load { return lease.Load{} }
	grant := func(answers, about time.Duration) (law.Advice, bool) {
		n.Tick(now, use) // sends a want
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
	n.Tick(now, use)
	if a, ok := n.Advice(); ok {
		t.Errorf("%+v while the lease lasts", a)
	}
	n.Tick(now+told.TTL, use)
	if a, ok := n.Advice(); !ok || a != (law.Advice{}) {
		t.Errorf("%+v, %v after the lease: want none", a, ok)
	}
}

// TestGrantToAnEarlierProcess: a process with the ID of a crashed process has no share of the grant
// that the store still has. The clock of the crashed process began earlier, so that its lease would
// last for days.
func TestGrantToAnEarlierProcess(t *testing.T) {
	c := told
	c.Fallback = lease.Refuse
	now := time.Second
	n := lease.NewNode(c, now)
	for _, answers := range []time.Duration{48 * time.Hour, now} {
		n.Tick(now, func(int) lease.Load { return lease.Load{} })
		must.Have(n.Read(now, lease.Entry{Key: lease.GrantPrefix + "a", Rev: 1, Value: value(t, lease.Grant{
			Epoch: lease.Epoch{N: 1, ID: "b"}, Number: 1, Answers: answers, TTL: c.TTL, Share: 5,
		})}))(t)
		if own := answers == now; n.Leased() != own || n.Share() > 0 != own {
			t.Errorf("a share of %d of a grant that answers a want of %v, at %v", n.Share(), answers, now)
		}
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

// TestLastWord: a member that leaves holds nothing. While its last work runs, it is still counted.
func TestLastWord(t *testing.T) {
	for _, running := range []int{0, 3} {
		n := lease.NewNode(told, time.Second)
		var w lease.Want
		must.Do(t, json.Unmarshal(n.Leave(2*time.Second, running)[0].Value, &w))
		if n.Share() != 0 || w.Held != 0 || w.Running != running || !w.Refuse || w.Leaving != (running == 0) {
			t.Errorf("a share of %d, and with %d slots in use %+v", n.Share(), running, w)
		}
	}
}

// TestUnknownPast: where the store has no leader, or a foreign value, the next one raises no member
// until all that may have been granted is over.
func TestUnknownPast(t *testing.T) {
	for _, found := range [][]byte{nil, []byte("{")} {
		n := lease.NewNode(told, time.Second)
		_, _ = n.Read(time.Second, lease.Entry{Key: lease.LeaderKey, Value: found, Rev: 1})
		n.Synced(false)
		for _, w := range n.Tick(time.Minute, func(int) lease.Load { return lease.Load{} }) {
			if w.Key != lease.LeaderKey {
				continue
			}
			var l lease.Leader
			must.Do(t, json.Unmarshal(w.Value, &l))
			if want := 17600 * time.Millisecond; l.Blind != want {
				t.Errorf("after %q it is blind for %v, want %v", found, l.Blind, want)
			}
		}
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
	c := told
	c.Cap, c.Grace, c.Fallback = 5000, 30*time.Second, lease.Keep
	h := newHub(b, c)
	second := func(i int) {
		for m := range 1000 {
			h.say(fmt.Sprintf("m%04d", m), lease.Want{Cap: 5000, Need: (m + i/10) % 20, Report: report})
		}
		for range 4 {
			h.pass(time.Second / 4)
		}
	}
	for i := range 120 { // past the wait of a first term
		second(i)
	}
	h.messages, h.bytes = 0, 0
	for i := 0; b.Loop(); i++ {
		second(i)
	}
	b.ReportMetric(float64(h.messages)/float64(b.N), "messages/op")
	b.ReportMetric(float64(h.bytes)/float64(b.N), "bytes/op")
	if !h.Leads() {
		b.Error("it does not lead any more")
	}
}
