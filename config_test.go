package weir_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/law"
)

// everything sets each field to a value other than its default, except functions.
var everything = weir.Config{
	Name: "search", Min: 2, Max: 300, Initial: 40, Law: law.Band{Target: time.Second},
	Interval: 2 * time.Second, Window: 30 * time.Second, MinSamples: 7,
	Queue:   weir.Queue{Size: 9, Timeout: 3 * time.Second, Discipline: weir.Adaptive, Tenants: 1024},
	Timeout: 4 * time.Second, Breaker: new(breaker), Histograms: true, Shadow: true,
}

// Config returns the configuration that was given, whatever else changed, and Update accepts
// it.
func TestConfigIsWhatWasGiven(t *testing.T) {
	for name, l := range map[string]*weir.Limiter{
		"new": newLimiter(t, everything), "updated": newLimiter(t, weir.Config{}),
	} {
		if name == "updated" {
			update(t, l, everything)
		}
		setCap(t, l, 3)
		got := l.Config()
		if !reflect.DeepEqual(got, everything) {
			t.Errorf("%s: %+v\nwant %+v", name, got, everything)
		}
		update(t, l, got)
		if again := l.Config(); !reflect.DeepEqual(again, got) {
			t.Errorf("%s: %+v after an update with what was read: want %+v", name, again, got)
		}
		update(t, l, weir.Config{})
		if got := l.Config(); !reflect.DeepEqual(got, newLimiter(t, weir.Config{}).Config()) {
			t.Errorf("%s: %+v: want nothing of the last one", name, got)
		}
	}
}

// A new field of Config is missing above until it is named there.
func TestConfigIsReadWhole(t *testing.T) {
	functions := map[string]bool{"Classify": true, "OnEvent": true, "Exemplar": true}
	for _, part := range []reflect.Value{reflect.ValueOf(everything), reflect.ValueOf(everything.Queue)} {
		for i := range part.NumField() {
			if name := part.Type().Field(i).Name; part.Field(i).IsZero() != functions[name] {
				t.Errorf("%s: want a value that is not its default", name)
			}
		}
	}
	called := ""
	c := newLimiter(t, weir.Config{
		Classify:   func(error) weir.Outcome { called += "classify "; return weir.Ignore },
		OnEvent:    func(weir.Event) { called += "event " },
		Exemplar:   func(context.Context) string { called += "exemplar"; return "" },
		Histograms: true,
	}).Config()
	if c.Classify == nil || c.OnEvent == nil || c.Exemplar == nil {
		t.Fatal("a function is missing")
	}
	c.Classify(nil)
	c.OnEvent(weir.Event{})
	c.Exemplar(t.Context())
	if called != "classify event exemplar" {
		t.Errorf("called %q", called)
	}
}

func TestUpdateToAnotherLawIsAnEvent(t *testing.T) {
	var j limittest.Journal
	c := weir.Config{Initial: 10, Law: law.Band{}, OnEvent: j.Note}
	l := newLimiter(t, c)
	update(t, l, c)
	c.Law = law.Band{Factor: 0.5, Cooldown: time.Second} // by which the law in use is retuned
	update(t, l, c)
	if len(j.Events) != 0 || len(l.History()) != 0 {
		t.Errorf("an update that moves no limit and replaces no law is reported: %v", j.Events)
	}
	c.Law = law.Fixed{}
	update(t, l, c)
	replaced := j.Of(weir.LawReplaced)
	if len(replaced) != 1 || replaced[0].Change.From != 10 || replaced[0].Change.To != 10 {
		t.Fatalf("events %v: want one of a law replaced that leaves the limit at 10", j.Events)
	}
	j.Gapless(t)
	if l.Snapshot().Limit != 10 {
		t.Error("the limit moved")
	}
	for i, fixed := range []law.Fixed{{}, {Limit: 10}, {Limit: 20}} {
		c.Law = fixed
		update(t, l, c)
		update(t, l, c) // the same limit
		if n := len(j.Of(weir.LawReplaced)); n != 1+i {
			t.Errorf("%v: %d laws replaced, want %d", fixed, n, 1+i)
		}
	}
	if l.Snapshot().Limit != 20 {
		t.Errorf("the limit is %d", l.Snapshot().Limit)
	}
}

func TestUpdateComparesNoLaws(t *testing.T) {
	c := weir.Config{Law: script(func(w law.Window) law.Decision { return law.Decision{Limit: float64(w.Limit)} })}
	l := newLimiter(t, c) // comparing functions panics
	update(t, l, c)
	update(t, l, c)
}

// A lawFunc is a law made of the function that starts it.
type lawFunc func(law.Bounds) (law.Controller, error)

func (f lawFunc) Controller(b law.Bounds) (law.Controller, error) { return f(b) }

// A law that returns neither a controller nor an error is an error that says so.
func TestLawWithoutAController(t *testing.T) {
	nothing := lawFunc(func(law.Bounds) (law.Controller, error) { return nil, nil })
	_, made := weir.New(weir.Config{Name: "search", Law: nothing})
	l := newLimiter(t, weir.Config{Max: 7})
	updated := l.Update(weir.Config{Name: "search", Max: 9, Law: nothing})
	_, joined := inside.New(weir.Config{Name: "search", Law: nothing}, admit.NewGroup(1), admit.Allocation{})
	for _, err := range []error{made, updated, joined} {
		if !errors.Is(err, weir.ErrConfig) {
			t.Fatalf("got %v, want weir.ErrConfig", err)
		}
		for _, part := range []string{`"search"`, "weir_test.lawFunc", "neither a controller nor an error"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not say %q", err, part)
			}
		}
	}
	if s := l.Snapshot(); s.Max != 7 {
		t.Errorf("the update was applied: %v", l)
	}
}

// faulty is a law that panics in the calls that are set.
type faulty struct{ controller, retune, first bool }

func (f *faulty) Controller(law.Bounds) (law.Controller, error) {
	if f.controller {
		panic("controller")
	}
	return f, nil
}

func (f *faulty) Next(w law.Window) law.Decision {
	if f.first {
		panic("first")
	}
	return law.Decision{Limit: float64(w.Limit)}
}

func (f *faulty) Retune(l law.Law) bool {
	next, ok := l.(*faulty)
	if ok && next.retune {
		panic("retune")
	}
	return ok
}

// An update in which a law panics is applied whole, or not at all if the law does not even start.
func TestUpdateWithAPanicIsWhole(t *testing.T) {
	for name, c := range map[string]struct {
		old, law law.Law
		max      int // afterwards
	}{
		"the law does not start":       {law.Fixed{}, &faulty{controller: true}, 50},
		"it does not decide":           {law.Fixed{}, &faulty{first: true}, 30},
		"the old one cannot be asked":  {&faulty{}, &faulty{retune: true}, 30},
		"the old one, and the new one": {&faulty{}, &faulty{retune: true, first: true}, 30},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLimiter(t, weir.Config{Name: "old", Max: 50, Initial: 40, Law: c.old})
				held := hold(t, l, 1)
				panicked := func() (v any) {
					defer func() { v = recover() }()
					_ = l.Update(weir.Config{Name: "new", Max: 30, Law: c.law, Queue: weir.Queue{Size: 1}})
					return nil
				}()
				if panicked == nil {
					t.Error("the panic was swallowed")
				}
				s, applied := l.Snapshot(), c.max == 30
				if s.Max != c.max || (s.Limit == 30) != applied || (s.Name == "new") != applied {
					t.Errorf("name %q, limit %d, maximum %d: want all of it or nothing", s.Name, s.Limit, s.Max)
				}
				held = append(held, hold(t, l, s.Limit-1)...)
				waiting := ask(t.Context(), l, 1)
				if (len(waiting) == 0) != applied {
					t.Errorf("a queue: %v, want %v", len(waiting) == 0, applied)
				}
				for _, p := range held {
					p.Release()
				}
				time.Sleep(time.Minute)
				update(t, l, weir.Config{Law: law.Fixed{}})
				if a := now(t, waiting); a.Err == nil {
					a.Permit.Release()
				}
				balanced(t, l)
			})
		})
	}
}

func TestConfigInvalid(t *testing.T) {
	const tooMany = 1_000_000_001
	for _, c := range []struct {
		config weir.Config
		says   []string // field, value and range
	}{
		{weir.Config{Min: -1}, []string{"Min", "-1", "1 to 1000000000"}},
		{weir.Config{Min: tooMany}, []string{"Min", "1000000001", "1 to 1000000000"}},
		{weir.Config{Max: -5}, []string{"Max", "-5", "1 to 1000000000"}},
		{weir.Config{Max: math.MaxInt}, []string{"Max", strconv.Itoa(math.MaxInt), "1 to 1000000000"}},
		{weir.Config{Initial: -1}, []string{"Initial", "-1"}},
		{weir.Config{Initial: tooMany}, []string{"Initial", "1000000001"}},
		{weir.Config{MinSamples: -1}, []string{"MinSamples", "-1"}},
		{weir.Config{MinSamples: tooMany}, []string{"MinSamples", "1000000001"}},
		{weir.Config{Queue: weir.Queue{Size: -1}}, []string{"Queue.Size", "-1"}},
		{weir.Config{Queue: weir.Queue{Size: 1, Tenants: -1}}, []string{"Queue.Tenants", "-1", "1 to 1024"}},
		{weir.Config{Queue: weir.Queue{Size: 1, Tenants: 1025}}, []string{"Queue.Tenants", "1025", "1 to 1024"}},
		{weir.Config{Queue: weir.Queue{Tenants: 64}}, []string{"Queue.Tenants", "64", "without a queue"}},
		{weir.Config{Queue: weir.Queue{Timeout: time.Second}}, []string{
			"Queue.Timeout", "1s", "0 without a queue", "set Queue.Size", "Adaptive",
		}},
		{weir.Config{Queue: weir.Queue{Size: tooMany}}, []string{"Queue.Size", "1000000001"}},
		{weir.Config{Interval: -time.Second}, []string{"Interval", "-1s", "or more"}},
		{weir.Config{Window: -time.Second}, []string{"Window", "-1s", "or more"}},
		{weir.Config{Queue: weir.Queue{Timeout: -1}}, []string{"Queue.Timeout", "-1ns", "or more"}},
		{weir.Config{Timeout: math.MinInt64}, []string{"Timeout", "-2562047h47m16.854775808s", "or more"}},
		{weir.Config{Queue: weir.Queue{Discipline: 2}}, []string{
			"Queue.Discipline", "Discipline(2)", "FIFO or Adaptive",
		}},
		{weir.Config{Min: 10, Max: 5}, []string{"Min", "10", "at most Max, which is 5"}},
		{weir.Config{Max: 5, Initial: 6}, []string{"Initial", "6", "1 and 5"}},
		{weir.Config{Min: 5, Initial: 4}, []string{"Initial", "4", "5 and 100000"}},
		{weir.Config{Interval: 2 * time.Second, Window: time.Second}, []string{
			"Window", "1s", "at least Interval, which is 2s",
		}},
		{weir.Config{Window: time.Millisecond}, []string{"Window", "1ms", "at least Interval, which is 1s"}},
		{weir.Config{Name: "search", Law: law.Band{Tolerance: math.NaN()}}, []string{
			`"search"`, "band", "tolerance", "NaN", "0 to less than 1",
		}},
		{weir.Config{Law: law.Band{Factor: 1}}, []string{"band", "factor", "1", "0 to less than 1"}},
		{weir.Config{Law: law.Band{Target: -time.Second}}, []string{"band", "target", "-1s", "0s or more"}},
		{weir.Config{Law: law.Band{MaxErrorRate: math.Inf(1)}}, []string{
			"band", "max_error_rate", "+Inf", "0 to less than 1",
		}},
		{weir.Config{Exemplar: func(context.Context) string { return "" }}, []string{"Exemplar", "set", "nil without Histograms"}},
	} {
		l, err := weir.New(c.config)
		if err == nil || l != nil {
			t.Errorf("%+v is accepted", c.config)
			continue
		}
		if !errors.Is(err, weir.ErrConfig) && !errors.Is(err, law.ErrConfig) {
			t.Errorf("%v matches neither weir.ErrConfig nor law.ErrConfig", err)
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not say %q", err, part)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q is more than one line", err)
		}
	}
}

func TestConfigHasTheDefaults(t *testing.T) {
	usual := weir.Config{
		Name: "limiter", Min: 1, Max: 100_000, Initial: 4, Law: law.Setpoint{},
		Interval: time.Second, Window: 10 * time.Second, MinSamples: 20,
	}
	for name, c := range map[string]struct {
		given weir.Config
		set   func(want *weir.Config)
	}{
		"zero":           {weir.Config{}, func(*weir.Config) {}},
		"law":            {weir.Config{Law: law.Little{}}, func(c *weir.Config) { c.Law, c.Initial = law.Little{}, 20 }},
		"maximum":        {weir.Config{Max: 5}, func(c *weir.Config) { c.Max = 5 }},
		"lowest maximum": {weir.Config{Max: 1}, func(c *weir.Config) { c.Max, c.Initial = 1, 1 }},
		"minimum":        {weir.Config{Min: 5000}, func(c *weir.Config) { c.Min, c.Initial = 5000, 5000 }},
		"highest": {weir.Config{Max: 1_000_000_000, Initial: 1_000_000_000}, func(c *weir.Config) {
			c.Max, c.Initial = 1_000_000_000, 1_000_000_000
		}},
		"interval": {weir.Config{Interval: time.Minute}, func(c *weir.Config) { c.Interval, c.Window = time.Minute, time.Minute }},
		"queue":    {weir.Config{Queue: weir.Queue{Size: 3}}, func(c *weir.Config) { c.Queue = weir.Queue{Size: 3, Timeout: time.Second} }},
		"adaptive queue": {weir.Config{Queue: weir.Queue{Discipline: weir.Adaptive}}, func(c *weir.Config) {
			c.Queue = weir.Queue{Size: 1000, Timeout: time.Second, Discipline: weir.Adaptive}
		}},
	} {
		want := usual
		c.set(&want)
		l := newLimiter(t, c.given)
		if got := l.Config(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v\nwant %+v", name, got, want)
		}
		if s := l.Snapshot(); s.Limit != want.Initial || s.Min != want.Min || s.Max != want.Max {
			t.Errorf("%s: limit %d within %d to %d", name, s.Limit, s.Min, s.Max)
		}
	}
}

func TestMustPanics(t *testing.T) {
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, weir.ErrConfig) {
			t.Errorf("recovered %v: want the error", err)
		}
	}()
	weir.Must(weir.New(weir.Config{Min: -1}))
}

func TestNames(t *testing.T) {
	for value, want := range map[fmt.Stringer]string{
		weir.FIFO: "fifo", weir.Adaptive: "adaptive", weir.Discipline(7): "Discipline(7)",
		weir.LimitChanged: "limit changed", weir.LawReplaced: "law replaced", weir.Refused: "refused",
		weir.WouldRefuse: "would refuse", weir.Kind(99): "Kind(99)",
		weir.Event{Limiter: "a", Kind: 99}: "a: Kind(99)", weir.Reason(99): "Reason(99)", weir.Reason(0): "Reason(0)",
	} {
		if got := value.String(); got != want {
			t.Errorf("%q: want %q", got, want)
		}
	}
}

// FuzzConfig checks that any setting is either refused or works.
func FuzzConfig(f *testing.F) {
	f.Add("", 0, 0, 0, int64(0), int64(0), 0, 0, int64(0), byte(0), int64(0), "fixed", false)
	f.Add("a", 1, 10, 5, int64(time.Second), int64(time.Minute), 5, 5, int64(time.Second), byte(1), int64(1),
		"band(target=1ns)", true)
	f.Add("b", 7, 7, 7, int64(1), int64(math.MaxInt64), 1, 1_000_000_000, int64(math.MaxInt64), byte(0),
		int64(math.MaxInt64), "band", false)
	f.Add("c", -1, 0, math.MinInt, int64(-1), int64(0), 0, 0, int64(0), byte(9), int64(0), "", false)
	f.Add("d", 1_000_000_000, 1_000_000_000, 0, int64(math.MaxInt64), int64(math.MaxInt64), 1_000_000_000, 0, int64(1),
		byte(1), int64(0),
		"band(signal=queue_wait,max_error_rate=0.5,cooldown=2562047h,proportional=true)", false)
	f.Fuzz(func(t *testing.T, name string, least, most, initial int, interval, window int64, samples, size int,
		wait int64, discipline byte, timeout int64, text string, shadow bool,
	) {
		c := weir.Config{
			Name: name, Min: least, Max: most, Initial: initial,
			Interval: time.Duration(interval), Window: time.Duration(window), MinSamples: samples,
			Queue:   weir.Queue{Size: size, Timeout: time.Duration(wait), Discipline: weir.Discipline(discipline)},
			Timeout: time.Duration(timeout), Shadow: shadow,
		}
		if parsed, err := law.Parse(text); err == nil {
			c.Law = parsed
		}
		l, err := weir.New(c)
		if err != nil {
			if !errors.Is(err, weir.ErrConfig) && !errors.Is(err, law.ErrConfig) {
				t.Fatalf("%v", err)
			}
			return
		}
		exercise(t, l)
		if err := l.Update(c); err != nil {
			t.Fatalf("New takes what Update does not: %v", err)
		}
		exercise(t, l)
		l.Close()
		balanced(t, l)
	})
}

// exercise makes calls that never wait, and checks the invariants.
func exercise(t *testing.T, l *weir.Limiter) {
	t.Helper()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for i := range 40 {
		permit, err := l.TryAcquire(t.Context())
		if heavy, err := l.AcquireN(gone, 3); err == nil {
			t.Errorf("admitted although cancelled: %v", &heavy)
		}
		s := l.Snapshot()
		if s.Limit < s.Min || s.Limit > s.Max || s.Min < 1 || s.InFlight < 0 || s.Queued != 0 ||
			!s.Shadow && s.InFlight > s.Limit || err == nil && s.InFlight != 1 {
			t.Fatalf("%+v", s)
		}
		if err != nil {
			t.Fatalf("%v although idle: %v", err, l)
		}
		if i%3 == 0 {
			permit.Done(context.DeadlineExceeded)
		} else {
			permit.Done(nil)
		}
	}
	if text := l.String(); !json.Valid([]byte(text)) {
		t.Errorf("not JSON: %s", text)
	}
	balanced(t, l)
}
