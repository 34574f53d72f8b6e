package weir_test

import (
	"encoding/json"
	"expvar"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

var _ expvar.Var = (*weir.Limiter)(nil)

func TestSnapshotTellsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{
			Name: "search", Initial: 2, Max: 10, Law: law.Fixed{},
			Queue: weir.Queue{Size: 1, Timeout: time.Second},
		})
		for range 10 {
			held := hold(t, l, 2)
			time.Sleep(50 * time.Millisecond)
			held[0].Done(nil)
			held[1].Done(nil)
		}
		hold(t, l, 2)
		time.Sleep(100 * time.Millisecond)
		ask(t.Context(), l, 1)
		if _, ok := l.TryAcquire(t.Context()); ok {
			t.Fatal("admitted above the limit")
		}
		s := l.Snapshot()
		for _, d := range []time.Duration{s.P50, s.P95, s.P99} {
			if d < 48*time.Millisecond || d > 52*time.Millisecond {
				t.Errorf("quantile %v: want 50ms within 4%%", d)
			}
		}
		if s.Age < 100*time.Millisecond || s.Age > 150*time.Millisecond {
			t.Errorf("age %v: want 100ms", s.Age)
		}
		want := weir.Snapshot{
			Name: "search", Limit: 2, Min: 1, Max: 10, InFlight: 2, Queued: 1,
			Samples: 20, Mean: 50 * time.Millisecond, EWMA: 50 * time.Millisecond,
			Admitted: 22, Completed: 20,
		}
		if s.Name != want.Name || s.Limit != want.Limit || s.Min != want.Min || s.Max != want.Max ||
			s.InFlight != want.InFlight ||
			s.Queued != want.Queued || s.Samples != want.Samples || s.Mean != want.Mean || s.EWMA != want.EWMA ||
			s.Admitted != want.Admitted || s.Completed != want.Completed || s.RefusedTotal() != 1 {
			t.Errorf("%+v: want %+v and one refused", s, want)
		}
		l.Close()
	})
}

func TestSnapshotForgetsAfterTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{Window: 5 * time.Second})
		hold(t, l, 1)[0].Done(nil)
		time.Sleep(2 * time.Second)
		if n := l.Snapshot().Samples; n != 1 {
			t.Errorf("%d samples after 2 s: want 1", n)
		}
		time.Sleep(4 * time.Second)
		if s := l.Snapshot(); s.Samples != 0 || s.P95 != 0 || s.Completed != 1 {
			t.Errorf("%d samples after 6 s: want none", s.Samples)
		}
	})
}

func TestReadingChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var windows []law.Window
		l := newLimiter(t, weir.Config{Law: watching(&windows), MinSamples: 1})
		hold(t, l, 1)[0].Done(nil)
		time.Sleep(time.Minute)
		for range 100 {
			l.Snapshot()
			l.History()
			_ = l.String()
		}
		if len(windows) != 0 {
			t.Fatalf("%d windows closed by a read", len(windows))
		}
		before := l.String()
		if after := l.String(); after != before {
			t.Errorf("%s became %s", before, after)
		}
		hold(t, l, 1)[0].Done(nil)
		if len(windows) == 0 {
			t.Error("no window closed by what passed")
		}
	})
}

func TestSnapshotIsOfOneMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 3, weir.Queue{Size: 5, Timeout: time.Second})
		go load(t.Context(), l, 6, time.Second, always(7*time.Millisecond))
		for range 200 {
			time.Sleep(5 * time.Millisecond)
			if s := l.Snapshot(); s.Admitted != s.Completed+uint64(s.InFlight) || s.InFlight > s.Limit || s.Queued > 5 {
				t.Fatalf("%+v", s)
			}
		}
		time.Sleep(time.Second)
		balanced(t, l)
	})
}

func TestStringIsJSON(t *testing.T) {
	l := newLimiter(t, weir.Config{Name: `a "b"`, Max: 1})
	hold(t, l, 1)
	_, _ = l.TryAcquire(t.Context())
	var got map[string]any
	if err := json.Unmarshal([]byte(l.String()), &got); err != nil {
		t.Fatalf("%v in %s", err, l)
	}
	if got["name"] != `a "b"` || got["limit"] != 1.0 || got["in_flight"] != 1.0 {
		t.Errorf("%v", got)
	}
	if r, ok := got["refused"].(map[string]any); !ok || r["limit reached"] != 1.0 {
		t.Errorf("refused: %v", got["refused"])
	}
	v := weir.Snapshot{P95: 131200 * time.Microsecond}
	if text, err := json.Marshal(v); err != nil || !strings.Contains(string(text), `"p95_ms":131.2,`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestHistoryKeepsTheLastSixteen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{Min: 100, Max: 100})
		if h := l.History(); len(h) != 0 {
			t.Errorf("%v before any change", h)
		}
		began := time.Now()
		for i := range 40 {
			time.Sleep(time.Second)
			update(t, l, weir.Config{Min: 101 + i, Max: 101 + i})
		}
		h := l.History()
		if len(h) != 16 {
			t.Fatalf("%d changes: want 16", len(h))
		}
		for i, c := range h {
			if want := 124 + i; c.From != want || c.To != want+1 || c.Reason.Code != law.Configured ||
				!c.At.Equal(began.Add(time.Duration(25+i)*time.Second)) {
				t.Errorf("change %d: %+v", i, c)
			}
		}
		if s := l.Snapshot(); s.Raised != 40 || s.Last.Code != law.Configured {
			t.Errorf("raised %d: want 40", s.Raised)
		}
		h[0].To = 7
		if l.History()[0].To == 7 {
			t.Error("the history is not the caller's own")
		}
	})
}

func TestHistorySaysWhy(t *testing.T) {
	scripted := func(code law.ReasonCode, signal law.Signal, have, want float64, limit float64) law.Decision {
		return law.Decision{Limit: limit, Reason: law.Reason{Code: code, Signal: signal, Have: have, Want: want}}
	}
	decisions := []law.Decision{
		scripted(law.Above, 950, 0.131, 0.115, 14),
		scripted(law.Below, law.EWMA, 0.0012, 0.085, 15),
		scripted(law.Above, law.Errors, 0.12, 0.05, 10),
		scripted(law.Above, law.QueueWait, 0.25, 0.1, 11),
		scripted(law.Within, 950, 0.1, 0.1, 11),
	}
	synctest.Test(t, func(t *testing.T) {
		next := 0
		l := newLimiter(t, weir.Config{Initial: 20, MinSamples: 1, Law: script(func(w law.Window) law.Decision {
			if w.Samples == 0 || next == len(decisions) {
				return law.Decision{Limit: float64(w.Limit)}
			}
			next++
			return decisions[next-1]
		})})
		for range 10 {
			time.Sleep(time.Second)
			hold(t, l, 1)[0].Done(nil)
		}
		var got []string
		for _, c := range l.History() {
			got = append(got, c.String())
		}
		want := []string{
			"p95 131ms above 115ms: cut 20 to 14",
			"EWMA 1.2ms below 85ms: raised 14 to 15",
			"error rate 12% above 5%: cut 15 to 10",
			"queue wait 250ms above 100ms: raised 10 to 11",
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: want %q", got, want)
		}
		if s := l.Snapshot(); s.Raised != 2 || s.Cut != 2 || s.Last.String() != "queue wait 250ms above 100ms" {
			t.Error(l)
		}
	})
}

// A limit that is held is explained too.
func TestSnapshotHasTheLastDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{MinSamples: 1})
		for range 3 {
			p := hold(t, l, 1)[0]
			time.Sleep(500 * time.Millisecond)
			p.Done(nil)
		}
		update(t, l, weir.Config{MinSamples: 1, Law: law.Band{Target: time.Second}})
		p := hold(t, l, 1)[0]
		time.Sleep(500 * time.Millisecond)
		p.Done(nil)
		time.Sleep(time.Second)
		hold(t, l, 1)[0].Done(nil)
		if got := l.Snapshot().Decision.String(); !strings.HasSuffix(got, "below 850ms, limit not used") {
			t.Errorf("decision %q", got)
		}
	})
}
