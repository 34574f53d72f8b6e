package dash

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/recording"
	"github.com/weir-go/weir/law"
)

type world struct {
	mu    sync.Mutex
	snaps []weir.Snapshot
	reads int
}

func (w *world) change(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

func (w *world) read() []weir.Snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	return append([]weir.Snapshot{}, w.snaps...)
}

// next is the next message to a client with its last details, after half a second.
func next(t *testing.T, c *client) (o recording.Overview, d recording.Details) {
	t.Helper()
	message, ok := <-c.messages
	if !ok {
		t.Fatal("cut off")
	}
	for part := range strings.SplitSeq(strings.TrimSpace(string(message)), "\n\n") {
		head, data, _ := strings.Cut(part, "\ndata: ")
		to := map[string]any{"event: overview": &o, "event: details": &d}[head]
		if err := json.Unmarshal([]byte(data), to); err != nil {
			t.Fatalf("%s: %v", part, err)
		}
	}
	return o, d
}

func end(h *hub) {
	h.close()
	time.Sleep(every)
}

func join(t *testing.T, h *hub, limiter string) *client {
	t.Helper()
	return must.Have(h.join(view{limiter: limiter}))(t)
}

func TestClientsGetThePastAndThenEachReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endless := law.Reason{Code: law.Above, Signal: law.P95, Have: 1, Want: math.Inf(1)} // JSON has no such number
		w := &world{snaps: []weir.Snapshot{
			{Name: "b", Limit: 20, InFlight: 14, Resting: 2, Reserved: 2, Entitled: 12.5, Borrowed: 1.5, P50: 40 * time.Millisecond, P95: 88 * time.Millisecond},
			{Name: "a", Limit: 3, Entitled: math.NaN(), Decision: endless},
			{Name: "a", Limit: 4},
		}}
		h := newHub(Config{Read: w.read})
		defer end(h)
		c := join(t, h, "b")
		o, d := next(t, c)
		if fmt.Sprint(o) != "{[{a 3 0 0 0 0 false false false 0 0 0} {b 20 14 0 88 0 false false false 2 12.5 1.5}] 0 []}" { //nolint:dupword // two fields
			t.Errorf("overview %v", o)
		}
		if p := d.Points[0]; !d.Whole || d.Name != "b" || len(d.Points) != 1 || p.Limit != 20 || p.InFlight != 14 || p.Resting != 2 || p.P95 != 88 || p.P50 != 40 || d.Decision != "nothing to judge yet" {
			t.Errorf("details %+v", d)
		}

		b := &w.snaps[0]
		w.change(func() {
			b.Limit, b.Cut, b.Last = 14, 1, law.Reason{Code: law.Above, Signal: law.P95, Have: 0.131, Want: 0.115}
			b.Refused, b.WouldRefuse = map[weir.Reason]uint64{weir.ReasonQueueFull: 7}, 2
			b.Decision = b.Last
			b.Admitted, b.Completed = 20, 6
		})
		o, d = next(t, c)
		if d.Whole || len(d.Points) != 1 || len(d.Changes) != 1 || d.Changes[0].Text != "p95 131ms above 115ms: cut 20 to 14" || d.Changes[0].Up || d.Changes[0].To != 14 {
			t.Errorf("after a cut: %+v", d)
		}
		if fmt.Sprint(d.Refusals) != "[{queue full 7 14} {none, in shadow mode 2 4}]" || d.Decision != "p95 131ms above 115ms" || o.Limiters[1].Refused != 14 || d.Points[0].Arrived != 54 || d.Points[0].Completed != 12 {
			t.Errorf("refusals %v, decision %q, overview %v", d.Refusals, d.Decision, o)
		}
		w.change(func() { b.Limit, b.Raised = 18, 3 })
		if _, d := next(t, c); len(d.Changes) != 1 || !strings.HasSuffix(d.Changes[0].Text, "raised 14 to 18 (in 3 changes, the last for this reason)") {
			t.Errorf("after three changes: %+v", d.Changes)
		}
		w.change(func() { b.Limit = 5 })
		if _, d := next(t, c); len(d.Changes) != 1 || d.Changes[0].Text != "the cap moved: 18 to 5" {
			t.Errorf("after a cap: %+v", d.Changes)
		}
		if _, d := next(t, c); len(d.Changes) != 0 {
			t.Errorf("without a change: %+v", d.Changes)
		}
		late := join(t, h, "nobody")
		if _, d := next(t, late); d.Name != "a" || len(d.Points) != 5 {
			t.Errorf("a late client of an unknown limiter got %q with %d readings", d.Name, len(d.Points))
		}
		w.change(func() { w.snaps = w.snaps[1:] })
		o, d = next(t, c)
		if len(o.Limiters) != 1 || d.Name != "" {
			t.Errorf("of a limiter that is gone: %v, %+v", o, d)
		}
	})
}

func TestNobodyLooksAndNothingIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{snaps: []weir.Snapshot{{Name: "a"}}}
		h := newHub(Config{Read: w.read})
		time.Sleep(time.Hour)
		if w.reads > 0 {
			t.Errorf("%d readings before the first client", w.reads)
		}
		c := join(t, h, "")
		time.Sleep(3 * time.Second)
		h.leave(c)
		time.Sleep(linger / 2)
		again := join(t, h, "")
		if _, d := next(t, again); len(d.Points) < 30 {
			t.Errorf("%d readings kept while a page reloads", len(d.Points))
		}
		h.leave(again)
		time.Sleep(2 * linger)
		synctest.Wait()
		before := w.reads
		time.Sleep(time.Hour)
		if w.reads != before || len(h.series) > 0 {
			t.Errorf("%d readings, %d series, with nobody there", w.reads-before, len(h.series))
		}
		if o, _ := next(t, join(t, h, "")); len(o.Limiters) != 1 {
			t.Errorf("the first page after that begins with %+v, want the limiter", o)
		}
		end(h)
	})
}

func TestSlowClientsAreCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{snaps: []weir.Snapshot{{Name: "a"}}}
		h := newHub(Config{Read: w.read})
		defer end(h)
		slow, quick := join(t, h, ""), join(t, h, "")
		for range 4 * mostBehind {
			next(t, quick)
		}
		got := 0
		for range slow.messages { // is closed
			if got++; got > mostBehind {
				break
			}
		}
		if got != mostBehind {
			t.Errorf("the slow client has %d messages, want %d", got, mostBehind)
		}
		h.leave(slow)
		next(t, quick)
	})
}

func TestLimitersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		for i := range mostLimiters + 3 {
			w.snaps = append(w.snaps, weir.Snapshot{Name: fmt.Sprintf("%03d", i)})
		}
		h := newHub(Config{Read: w.read})
		c := join(t, h, "")
		if o, _ := next(t, c); len(o.Limiters) != mostLimiters || o.More != 3 || o.Limiters[0].Name != "000" {
			t.Errorf("%d limiters from %q, %d more", len(o.Limiters), o.Limiters[0].Name, o.More)
		}
		end(h)
	})
}

func TestHistoryIsBounded(t *testing.T) {
	var s series
	start := time.Now()
	for i := range 2 * mostPoints {
		s.add(start.Add(time.Duration(i)*every), &weir.Snapshot{Limit: i})
	}
	if n := len(s.points); n > mostPoints || n < mostPoints*8/10 {
		t.Errorf("%d readings, want at most %d", n, mostPoints)
	}
	if last := s.points[len(s.points)-1]; last.Limit != int32(2*mostPoints-1) {
		t.Errorf("the last reading is %v", last)
	}
	if len(s.changes) > mostChanges {
		t.Errorf("%d changes", len(s.changes))
	}
}

func TestTablesAreCut(t *testing.T) {
	var all []Table
	for range 70 {
		all = append(all, Table{strings.Repeat("x", 200), make([][2]string, 70)})
	}
	all[0].Rows[0] = [2]string{strings.Repeat("y", 200), "\xff"}
	got := cut(all)
	if len(got) != 64 || len(got[0].Rows) != 64 || len(got[0].Name) != 128 || len(got[0].Rows[0][0]) != 128 || !utf8.ValidString(got[0].Rows[0][1]) {
		t.Errorf("%d tables, of which the first is %+v", len(got), got[0])
	}
	if len(all[0].Rows[0][0]) != 200 {
		t.Error("the caller's table was changed")
	}
}

func TestRateOfAnotherLimiterOfThatName(t *testing.T) {
	var s series
	start := time.Now()
	s.add(start, &weir.Snapshot{Refused: map[weir.Reason]uint64{weir.ReasonQueueFull: 9}})
	s.add(start.Add(every), &weir.Snapshot{})
	if rate := s.rate(weir.Snapshot.RefusedTotal); rate != 0 {
		t.Errorf("rate %v after its counts began anew", rate)
	}
}

// A cap of a set, and a pace, hold work back below the limit, and the law does not hear of them.
func TestDecisionBesideACap(t *testing.T) {
	unused := law.Reason{Code: law.Unused, Signal: law.P95, Have: 0.001, Want: 0.1}
	for want, snap := range map[string]weir.Snapshot{
		"nothing to judge yet":                                                {Limit: 5, Queued: 1},
		"p95 1ms below 100ms, limit not used":                                 {Limit: 5, InFlight: 2, Decision: unused},
		"p95 1ms below 100ms, limit not used: work waits for a cap or a pace": {Limit: 5, InFlight: 2, Queued: 1, Decision: unused},
	} {
		s := series{last: &snap}
		if got := s.decision(); got != want {
			t.Errorf("%+v: %q, want %q", snap, got, want)
		}
	}
	for _, s := range []series{
		{last: &weir.Snapshot{Limit: 5, InFlight: 5, Queued: 1, Decision: unused}}, // the next window judges
		{last: &weir.Snapshot{Limit: 5, InFlight: 2, Queued: 1, Decision: unused}, pool: true},
	} {
		if got := s.decision(); got != unused.String() {
			t.Errorf("%+v: %q", s, got)
		}
	}
}

func TestPagesBeginAnewWhereTheClockIsTurnedBack(t *testing.T) {
	w := &world{snaps: []weir.Snapshot{{Name: "a"}}}
	h := newHub(Config{Read: w.read})
	h.running = true // by this test
	c := join(t, h, "a")
	start := time.UnixMilli(1_000_000)
	for i, after := range []int{0, 1, 2, 2, 3} {
		h.keep(start.Add(time.Duration(after)*every), h.attempt())
		h.send()
		if _, d := next(t, c); d.Whole != (i == 0 || i == 3) || len(d.Points) != 1 {
			t.Errorf("reading %d: %+v, want all that is left at the first one and at the fourth", i, d)
		}
	}
	if n := len(h.series["a"].points); n != 2 {
		t.Errorf("%d readings, want those since then", n)
	}
}

func TestPageGetsTheFirstLimiterOnceThereIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		h := newHub(Config{Read: w.read})
		defer end(h)
		c := join(t, h, "")
		for range 2 {
			if o, d := next(t, c); len(o.Limiters) > 0 || d.Name != "" {
				t.Errorf("before there is one: %+v, %+v", o, d)
			}
		}
		w.change(func() { w.snaps = []weir.Snapshot{{Name: "a"}} })
		for _, whole := range []bool{true, false} {
			if _, d := next(t, c); d.Name != "a" || d.Whole != whole {
				t.Errorf("%+v, want the details of a", d)
			}
		}
	})
}
