package law_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// every has a value in each setting.
var every = law.Band{
	Target: 20 * ms, Tolerance: 0.1, Signal: law.QueueWait, Quantile: 0.999, Ceiling: 1500 * ms,
	MaxErrorRate: 0.05, Step: 2, Factor: 0.5, MaxCut: 10, Proportional: true, Cooldown: time.Minute, MinSamples: 30,
}

const everyText = "band(target=20ms,tolerance=0.1,signal=queue_wait,quantile=0.999,ceiling=1.5s," +
	"max_error_rate=0.05,step=2,factor=0.5,max_cut=10,proportional=true,cooldown=1m0s,min_samples=30)"

func TestParse(t *testing.T) {
	for _, test := range []struct {
		text string
		want law.Law
		form string // the same if empty
	}{
		{"fixed", law.Fixed{}, ""},
		{" fixed ( ) ", law.Fixed{}, "fixed"},
		{"band", law.Band{}, "band"},
		{"band()", law.Band{}, "band"},
		{" band ( target = 200ms , step=2 ) ", law.Band{Target: 200 * ms, Step: 2}, "band(target=200ms,step=2)"},
		{"band(signal=ewma)", law.Band{Signal: law.EWMA}, "band(signal=ewma)"},
		{"band(signal=quantile,cooldown=0s,proportional=false)", law.Band{}, "band"},
		{everyText, every, everyText},
		{"fixed(60)", law.Fixed{Limit: 60}, "fixed(limit=60)"},
		{"fixed( limit = 60 )", law.Fixed{Limit: 60}, "fixed(limit=60)"},
		{"setpoint", law.Setpoint{}, ""},
		{"setpoint(300ms)", law.Setpoint{Budget: 300 * ms}, "setpoint(budget=300ms)"},
		{" setpoint ( budget = 1.5s )", law.Setpoint{Budget: 1500 * ms}, "setpoint(budget=1.5s)"},
		{"setpoint(without=hold)", law.Setpoint{Without: "hold"}, ""},
		{
			"aimd(backoff=0.5,timeout=1s,max_timeout_rate=0.1,step=2,min_samples=3,max_samples=4)",
			law.AIMD{Backoff: 0.5, Timeout: time.Second, MaxTimeoutRate: 0.1, Step: 2, MinSamples: 3, MaxSamples: 4},
			"",
		},
		{
			"gradient(tolerance=1.5,queue=3,smoothing=1,backoff=0.5,remeasure=50,min_samples=3,max_samples=4)",
			law.Gradient{
				Tolerance: 1.5, Queue: 3, Smoothing: 1, Backoff: 0.5, Remeasure: 50,
				MinSamples: 3, MaxSamples: 4,
			},
			"",
		},
		{
			"gradient2(tolerance=2,queue=3,smoothing=0.5,long=50,min_samples=3,max_samples=4)",
			law.Gradient2{Tolerance: 2, Queue: 3, Smoothing: 0.5, Long: 50, MinSamples: 3, MaxSamples: 4},
			"",
		},
		{
			"vegas(alpha=2,beta=4,threshold=0.5,probe=10,min_samples=3,max_samples=4)",
			law.Vegas{Alpha: 2, Beta: 4, Threshold: 0.5, Probe: 10, MinSamples: 3, MaxSamples: 4},
			"",
		},
		{
			"little(alpha=0.3,ema=0.1,floor=0.5,remeasure=30s,probe=0.9,min_samples=3,max_samples=4)",
			law.Little{
				Alpha: 0.3, EMA: 0.1, Floor: 0.5, Remeasure: 30 * time.Second, Probe: 0.9,
				MinSamples: 3, MaxSamples: 4,
			},
			"",
		},
		{
			"pid(target=1s,signal=ewma,quantile=0.5,kp=1,ki=2,kd=0.5,tau=1s,max_step=2s,max_error_rate=0.1,min_samples=3,max_samples=4)",
			law.PID{
				Target: time.Second, Signal: law.EWMA, Quantile: 0.5, Kp: 1, Ki: 2, Kd: 0.5, Tau: time.Second,
				MaxStep: 2 * time.Second, MaxErrorRate: 0.1, MinSamples: 3, MaxSamples: 4,
			},
			"",
		},
	} {
		got, err := law.Parse(test.text)
		if test.form == "" {
			test.form = test.text
		}
		if err != nil || !reflect.DeepEqual(got, test.want) || fmt.Sprint(got) != test.form {
			t.Errorf("%q: %#v (%v), %v", test.text, got, got, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	const laws = "band, fixed, aimd, gradient, gradient2, vegas, little, pid or setpoint"
	const settings = "target, tolerance, signal, quantile, ceiling, max_error_rate, step, factor, max_cut, proportional, cooldown or min_samples"
	for _, test := range []struct{ text, want string }{
		{"", `law: unknown law "": want ` + laws},
		{"Band", `law: unknown law "Band": did you mean band?`},
		{"bandits", `law: unknown law "bandits": want ` + laws},
		{"band(", `law: "band(" has no closing ")"`},
		{"band(target=1s) x", `law: "x" follows the closing ")" of "band"`},
		{"band(target)", `law: band: "target": want setting=value`},
		{"band(target=1s,)", `law: band: "": want setting=value`},
		{"band(speed=1)", `law: band: unknown setting "speed": want ` + settings},
		{"band(stp=1)", `law: band: unknown setting "stp": did you mean step?`},
		{"fixed(size=1)", `law: fixed: unknown setting "size": want limit`},
		{"fixed(6.5)", `law: fixed: limit "6.5": want a whole number`},
		{"fixed(0)", `law: fixed: limit 0 out of range: want more than 0, or leave it out for the limit that the limiter has`},
		{"setpoint(0s)", `law: setpoint: budget 0s out of range: want more than 0, or leave it out for none`},
		{"setpoint(budget=-1s)", `law: setpoint: budget -1s out of range: want 0s or more`},
		{"setpoint(without=all)", `law: setpoint: without "all": want climb, burst, fail, yield, tick, look, stays or hold`},
		{"gradient(queue=0)", `law: gradient: queue 0 out of range: want more than 0, or leave it out for the square root of the limit`},
		{"band(max_cut=0)", `law: band: max_cut 0 out of range: want more than 0, or leave it out for no bound`},
		{"pid(min_samples=0)", `law: pid: min_samples 0 out of range: want more than 0, or leave it out for the limiter's own`},
		{"fixed(60,60)", `law: fixed: limit is given twice`},
		{"gradient(tolerance=0.9)", `law: gradient: tolerance 0.9 out of range: want 1 or more`},
		{"gradient2(smoothing=1.1)", `law: gradient2: smoothing 1.1 out of range: want 0 to 1`},
		{"little(ema=0)", `law: little: ema 0 out of range: want more than 0, or leave it out for the default 0.1`},
		{"pid(signal=queue_wait)", `law: pid: signal "queue_wait": want quantile or ewma`},
		{"band(target=100)", `law: band: target "100": want a duration such as 100ms`},
		{"band(tolerance=1=2)", `law: band: tolerance "1=2": want a number`},
		{"band(step=1.5)", `law: band: step "1.5": want a whole number`},
		{"band(proportional=maybe)", `law: band: proportional "maybe": want true or false`},
		{"band(signal=p95)", `law: band: signal "p95": want quantile, ewma or queue_wait`},
		{"band(tolerance=1.5)", `law: band: tolerance 1.5 out of range: want 0 to less than 1`},
		{"band(factor=nan)", `law: band: factor NaN out of range: want 0 to less than 1`},
	} {
		l, err := law.Parse(test.text)
		if l != nil || !errors.Is(err, law.ErrConfig) || err.Error() != test.want {
			t.Errorf("%q: %v, %v\nwant %s", test.text, l, err, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "fixed", "band", "band()", " band ( step = 2 ) ", everyText, "band(signal=ewma,ceiling=1h)",
		"band(tolerance=1e-3,quantile=0x1p-2)", "band(target=0)", "band(step=-0)", "band(factor=-0)",
		"fixed(60)", "fixed(limit=60)", "fixed(6", "fixed( 007 )", "fixed(=1)", "aimd(timeout=200ms,backoff=0.5)",
		"gradient(queue=3,tolerance=1.5)", "gradient2(long=100,smoothing=1)", "vegas(alpha=7)",
		"vegas(alpha=2,beta=4)",
		"little(alpha=0.3,ema=0.1)", "little(alpha=1e300)", "pid(target=200ms,ki=0.5)", "pid(kp=1e308,kd=1e308)",
		"band(a=b,a=b)", "band(((", "band)(", "fixed(x)", "band(tolerance=inf)",
		"setpoint", "setpoint(budget=300ms)", "setpoint(budget=0)",
		" ", "\x00", "\xff", "(", ")", "()", "band(", "band)", "band()(", "band(=)", "band(target)", "band(target=)",
		"band(target=1ms,target=2ms)", "fixed(-1)", "fixed(99999999999999999999)", "fixed(1e309)", "band(tolerance=NaN)",
		"no such law", strings.Repeat("(", 1<<16), "band(" + strings.Repeat("x", 1<<16) + "=1)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := law.Parse(text)
		if err != nil {
			if l != nil || !errors.Is(err, law.ErrConfig) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%v, %.80v", l, err)
			}
			return
		}
		if _, err := l.Controller(law.Bounds{Min: 1, Max: 2, Initial: 1}); err != nil {
			t.Fatalf("parsed, but %v", err)
		}
		again, err := law.Parse(fmt.Sprint(l))
		if err != nil || !reflect.DeepEqual(again, l) || fmt.Sprint(again) != fmt.Sprint(l) {
			t.Fatalf("%v became %v, %v", l, again, err)
		}
	})
}

// TestFormsAreWhatParseReads: each setting is known, its default may be given, and neither changes
// the law.
func TestFormsAreWhatParseReads(t *testing.T) {
	for _, f := range law.Forms() {
		plain := must.Have(law.Parse(f.Name))(t)
		for _, s := range f.Settings {
			if s.Allowed == "" {
				t.Errorf("%s: nothing says what %s may be", f.Name, s.Name)
			}
			if low := strings.Fields(s.Allowed)[0]; low == "0" || low == "0s" {
				if _, err := law.Parse(fmt.Sprintf("%s(%s=%s)", f.Name, s.Name, low)); err != nil {
					t.Errorf("%s may be %s: %v", s.Name, s.Allowed, err)
				}
			}
			if _, err := law.Parse(fmt.Sprintf("%s(%s=wrong)", f.Name, s.Name)); !errors.Is(err, law.ErrConfig) {
				t.Errorf("%s(%s=wrong): %v", f.Name, s.Name, err)
			}
			if s.Default == "" {
				continue
			}
			given, err := law.Parse(fmt.Sprintf("%s(%s=%s)", f.Name, s.Name, s.Default))
			if err != nil {
				t.Errorf("the default of %s: %v", s.Name, err)
			} else if !sameDecisions(t, plain, given) {
				t.Errorf("%v is not what %s does without the setting", given, f.Name)
			}
		}
	}
}

// sameDecisions drives both laws with the same windows.
func sameDecisions(t *testing.T, a, b law.Law) bool {
	t.Helper()
	bounds := law.Bounds{Min: 1, Max: 100, Initial: 20}
	x := must.Have(a.Controller(bounds))(t)
	y := must.Have(b.Controller(bounds))(t)
	random, limit := rand.New(rand.NewPCG(1, 1)), bounds.Initial
	for range 300 {
		w := plausible(random, limit)
		first, second := x.Next(w), y.Next(w)
		if first.Limit != second.Limit {
			return false
		}
		limit = bounds.Clamp(first.Limit, limit)
	}
	return true
}
