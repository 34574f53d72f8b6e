package weir_test

import (
	"context"
	"encoding/json"
	"errors"
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

func TestSumIsOneLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fast, slow := fixed(t, 2, weir.Queue{}), fixed(t, 3, weir.Queue{})
		for i, l := range []*weir.Limiter{fast, slow} {
			for range 50 {
				_ = l.Do(t.Context(), func(context.Context) error {
					time.Sleep(time.Duration(1+99*i) * time.Millisecond)
					return nil
				})
			}
		}
		_ = slow.Do(t.Context(), func(context.Context) error { return errors.New("failed") })
		hold(t, fast, 2)
		if _, err := fast.TryAcquire(t.Context()); err == nil {
			t.Error("admitted")
		}
		time.Sleep(time.Second)
		s := weir.Sum(fast, fixed(t, 1, weir.Queue{}), slow) // with an unused one in between
		if s.Samples != 100 || s.P50 > 2*time.Millisecond || s.P95 < 95*time.Millisecond ||
			s.Mean.Round(time.Microsecond) != 50500*time.Microsecond {
			t.Errorf("samples %d, p50 %v, p95 %v, mean %v", s.Samples, s.P50, s.P95, s.Mean)
		}
		if s.Limit != 6 || s.InFlight != 2 || s.Admitted != 103 || s.Completed != 101 || s.Failed != 1 ||
			s.Refused[weir.ReasonLimitReached] != 1 || s.ErrorRate != 1.0/101 || s.Age < time.Second {
			t.Errorf("%+v", s)
		}
	})
}

// A field of a snapshot that Sum forgets is zero in the sum, also where it is not zero in a
// limiter.
func TestSumForgetsNoField(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{
			Name: "one", Initial: 2, Max: 2, Law: law.Band{Target: time.Second}, Histograms: true,
			MinSamples: 1, Interval: time.Second,
			Queue: weir.Queue{Size: 2, Timeout: time.Minute},
		})
		work := func(err error) {
			_ = l.Do(t.Context(), func(context.Context) error { time.Sleep(10 * time.Second); return err })
		}
		for _, err := range []error{
			nil, nil, nil, errors.New("failed"), context.DeadlineExceeded, context.Canceled, nil,
			nil,
		} {
			for range 5 { // at least one runs, two wait and one is refused
				go work(err)
				synctest.Wait()
			}
			time.Sleep(31 * time.Second) // as long as three take one after another
		}
		hold(t, l, l.Snapshot().Limit)
		go work(nil)
		time.Sleep(time.Millisecond)
		one, sum := reflect.ValueOf(l.Snapshot()), reflect.ValueOf(weir.Sum(l))
		seen := 0
		for field, value := range one.Fields() {
			switch field.Name {
			case "Name", "Last", "Decision", "GroupWait": // of one limiter
				continue
			}
			if value.IsZero() {
				continue
			}
			if seen++; sum.FieldByIndex(field.Index).IsZero() {
				t.Errorf("%s is %v, and 0 in the sum", field.Name, value)
			}
		}
		if seen < 20 {
			t.Errorf("%d fields of %+v say something: want most of them", seen, one)
		}
	})
}

// A student is a law that notes the knowledge it resumes from.
type student struct{ learned *law.Knowledge }

func (s student) Controller(b law.Bounds) (law.Controller, error) {
	return studentController{s, b.Initial}, nil
}

type studentController struct {
	student
	limit int
}

func (c studentController) Next(law.Window) law.Decision {
	return law.Decision{Limit: float64(c.limit)}
}

func (c studentController) Learned(int) law.Knowledge {
	return law.Knowledge{Limit: 37, NoLoad: 5 * time.Millisecond}
}
func (c studentController) Resume(k law.Knowledge) { *c.learned = k }

func TestRestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got law.Knowledge
		conf := weir.Config{Max: 100, Law: student{&got}}
		state := newLimiter(t, conf).Save()
		for _, c := range []struct {
			age    time.Duration
			max    int
			limit  int
			noLoad time.Duration
		}{
			{0, 100, 37, 5 * time.Millisecond},
			{30 * time.Minute, 30, 30, 5 * time.Millisecond},
			{time.Hour, 100, 37, 0},
		} {
			time.Sleep(c.age)
			got = law.Knowledge{}
			conf.Max = c.max
			l := newLimiter(t, conf)
			must.Do(t, l.Restore(state))
			if limit := l.Snapshot().Limit; limit != c.limit || got != (law.Knowledge{Limit: c.limit, NoLoad: c.noLoad}) {
				t.Errorf("after %v: a limit of %d, and the law got %v", c.age, limit, got)
			}
		}
	})
}

func TestRestoreRefuses(t *testing.T) {
	l := newLimiter(t, weir.Config{Name: "search"})
	for state, want := range map[string]string{
		"":                              "want what Save returned",
		"limit: 20":                     "want what Save returned",
		`{"version":1,"limit":"many"}`:  "want what Save returned",
		`{"version":1} {"version":1}`:   "after top-level value: want what Save returned",
		`{"version":1}}`:                "after top-level value: want what Save returned",
		`{"version":2,"limit":20}`:      "version 2, and this program reads 1",
		`{"version":1,"limit":-1}`:      "limit is -1: want 0 to 1000000000",
		`{"version":1,"no_load_ns":-1}`: "no_load_ns is -1: want 0 to 86400000000000",

		`{"version":1,"limit":9,"law":"law.AIMD"}`: "it is of law.AIMD, and the limiter has law.Setpoint: start without it",
	} {
		err := l.Restore([]byte(state))
		if !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"search"`) {
			t.Errorf("%q: %v, want %q", state, err, want)
		}
		if limit := l.Snapshot().Limit; limit != 4 {
			t.Errorf("%q: a limit of %d", state, limit)
		}
	}
}

// No state breaks a limiter.
func FuzzRestore(f *testing.F) {
	f.Add([]byte(`{"version":1,"saved":"2026-11-26T12:00:00Z","law":"law.Setpoint","limit":23,"no_load_ns":48000000}`))
	f.Add([]byte(`{"version":1,"saved":"9999-11-26T12:00:00Z","law":"law.Setpoint","limit":1000000000,"no_load_ns":1}`))
	f.Fuzz(func(t *testing.T, state []byte) {
		l := newLimiter(t, weir.Config{Min: 2, Max: 50})
		err := l.Restore(state)
		if s := l.Snapshot(); s.Limit < 2 || s.Limit > 50 || err != nil && (s.Limit != 4 || !errors.Is(err, weir.ErrConfig)) {
			t.Errorf("%v, a limit of %d", err, s.Limit)
		}
		must.Do(t, l.Do(t.Context(), func(context.Context) error { return nil }))
	})
}
