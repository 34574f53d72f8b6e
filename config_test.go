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
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

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
		{weir.Config{Law: (*law.Band)(nil)}, []string{"Law", "a nil *law.Band", "nil for law.Setpoint{}"}},
		{weir.Config{Breaker: (*breaker)(nil)}, []string{"Breaker", "a nil *weir_test.breaker", "nil for none"}},
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
		weir.Event{Limiter: "a", Kind: 99}: "a: Kind(99)", weir.Reason(99): "Verdict(99)",
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
