package weir_test

import (
	"encoding/json"
	"expvar"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/histogram"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

var _ expvar.Var = (*weir.Limiter)(nil)

func TestQueueWaitIsNotInTheLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var windows []law.Window
		l := newLimiter(t, weir.Config{Max: 1, Law: watching(&windows), MinSamples: 1, Queue: weir.Queue{Size: 1}})
		held := hold(t, l, 1)
		waiting := ask(t.Context(), l, 1)
		time.Sleep(500 * time.Millisecond)
		held[0].Release()
		p := admitted(t, waiting)
		time.Sleep(20 * time.Millisecond)
		p.Done(nil)
		if got := p.Waited(); got != 500*time.Millisecond {
			t.Errorf("waited %v: want 500ms", got)
		}
		if s := l.Snapshot(); s.Mean != 20*time.Millisecond || s.QueueWait != 500*time.Millisecond {
			t.Errorf("mean latency %v, queue wait %v: want 20ms and 500ms", s.Mean, s.QueueWait)
		}
		time.Sleep(time.Second)
		hold(t, l, 1)[0].Release()
		if w := windows[0]; w.Mean != 20*time.Millisecond || w.QueueWait != 500*time.Millisecond || w.Waited != 1 {
			t.Errorf("the law was shown %+v", w)
		}
	})
}

// The drain rate stays finite however many completions one instant has.
func TestDrainRateStaysFinite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 1, weir.Queue{})
		p := hold(t, l, 1)[0]
		time.Sleep(time.Second)
		p.Done(nil)
		for range 2000 {
			hold(t, l, 1)[0].Done(nil)
		}
		if r := l.Snapshot().DrainRate; math.IsInf(r, 0) || !json.Valid([]byte(l.String())) {
			t.Errorf("%v; as JSON: %v", r, l)
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

// Each field of a snapshot is in JSON, under a name of its own and with its own value.
func TestEachFieldIsInJSON(t *testing.T) {
	var s weir.Snapshot
	want := map[string]any{}
	n := 0
	for field, v := range reflect.ValueOf(&s).Elem().Fields() {
		n++
		name := field.Tag.Get("wire")
		if _, twice := want[name]; twice || name == "" {
			t.Fatalf("%s is named %q, which is empty or taken", field.Name, name)
		}
		if !strings.HasPrefix(strings.ReplaceAll(name, "_", ""), strings.ToLower(field.Name)) {
			t.Errorf("%s is named %q: want a name that begins like it", field.Name, name)
		}
		switch v.Interface().(type) {
		case time.Duration:
			v.SetInt(int64(n) * int64(time.Millisecond))
			want[name] = float64(n)
		case int:
			v.SetInt(int64(n))
			want[name] = float64(n)
		case uint64:
			v.SetUint(uint64(n))
			want[name] = float64(n)
		case float64:
			v.SetFloat(float64(n))
			want[name] = float64(n)
		case string:
			v.SetString("a \"b\"")
			want[name] = "a \"b\""
		case bool:
			v.SetBool(true)
			want[name] = true
		case law.Reason:
			v.Set(reflect.ValueOf(law.Reason{Code: law.Above, Signal: law.P95, Have: float64(n)}))
			want[name] = v.Interface().(law.Reason).String()
		case *histogram.Snapshot:
			v.Set(reflect.ValueOf(&histogram.Snapshot{Count: uint64(n)}))
			want[name] = map[string]any{"count": float64(n), "sum_seconds": 0.0, "buckets": nil}
		case map[weir.Reason]uint64:
			v.Set(reflect.ValueOf(map[weir.Reason]uint64{weir.ReasonClosed: 7}))
			want[name] = map[string]any{"closed": 7.0}
		default:
			t.Fatalf("the test knows no value for %s", field.Name)
		}
	}
	text := must.Have(json.Marshal(s))(t)
	var got map[string]any
	must.Do(t, json.Unmarshal(text, &got))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestNoHistogramsUnlessAskedFor(t *testing.T) {
	l := newLimiter(t, weir.Config{})
	pass := func() { hold(t, l, 1)[0].Done(nil) }
	expect := func(latencies uint64, peak int) {
		t.Helper()
		if s := l.Snapshot(); s.Latencies == nil || s.QueueWaits == nil || s.Latencies.Count != latencies ||
			s.Peak != peak {
			t.Errorf("%+v: want %d latencies and a peak of %d", s, latencies, peak)
		}
	}
	expectNone := func() {
		t.Helper()
		pass()
		if s := l.Snapshot(); s.Latencies != nil || s.QueueWaits != nil || s.Peak != 0 || s.Succeeded != s.Completed {
			t.Errorf("%+v: want no histograms", s)
		}
	}
	expectNone()
	permit := hold(t, l, 1)[0]
	update(t, l, weir.Config{Histograms: true})
	expect(0, 1)
	permit.Done(nil)
	expect(1, 1)
	update(t, l, weir.Config{Histograms: true, Shadow: true, Max: 1})
	pass()
	expect(2, 1)
	update(t, l, weir.Config{Histograms: true})
	pass()
	expect(3, 1)
	update(t, l, weir.Config{})
	expectNone()
	l = newLimiter(t, weir.Config{Histograms: true})
	expect(0, 0)
	l = newLimiter(t, weir.Config{Histograms: true, Shadow: true, Max: 1})
	hold(t, l, 3)
	expect(0, 3)
}
