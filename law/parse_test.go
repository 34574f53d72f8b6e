package law_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

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
		form string
	}{
		{"fixed", law.Fixed{}, "fixed"},
		{" fixed ( ) ", law.Fixed{}, "fixed"},
		{"band", law.Band{}, "band"},
		{"band()", law.Band{}, "band"},
		{" band ( target = 200ms , step=2 ) ", law.Band{Target: 200 * ms, Step: 2}, "band(target=200ms,step=2)"},
		{"band(signal=ewma)", law.Band{Signal: law.EWMA}, "band(signal=ewma)"},
		{"band(signal=quantile,max_cut=0,cooldown=0s,proportional=false)", law.Band{}, "band"},
		{everyText, every, everyText},
	} {
		got, err := law.Parse(test.text)
		if err != nil || !reflect.DeepEqual(got, test.want) || fmt.Sprint(got) != test.form {
			t.Errorf("%q: %#v (%v), %v", test.text, got, got, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	const settings = "target, tolerance, signal, quantile, ceiling, max_error_rate, step, factor, max_cut, proportional, cooldown or min_samples"
	for _, test := range []struct{ text, want string }{
		{"", `law: unknown law "": want band or fixed`},
		{"Band", `law: unknown law "Band": want band or fixed`},
		{"band)", `law: unknown law "band)": want band or fixed`},
		{"band(", `law: "band(" has no closing ")"`},
		{"band(target=1s) x", `law: "x" follows the closing ")" of "band"`},
		{"band(target=1s))", `law: ")" follows the closing ")" of "band"`},
		{"band(target)", `law: band: "target": want setting=value`},
		{"band(target=)", `law: band: "target=": want setting=value`},
		{"band(target=1s,)", `law: band: "": want setting=value`},
		{"band(speed=1)", `law: band: unknown setting "speed": want ` + settings},
		{"fixed(limit=1)", `law: fixed: unknown setting "limit": it has none`},
		{"band(step=1,step=1)", `law: band: step is given twice`},
		{"band(target=100)", `law: band: target "100": want a duration such as 100ms`},
		{"band(tolerance=1=2)", `law: band: tolerance "1=2": want a number`},
		{"band(step=1.5)", `law: band: step "1.5": want a whole number`},
		{"band(proportional=maybe)", `law: band: proportional "maybe": want true or false`},
		{"band(signal=p95)", `law: band: signal "p95": want quantile, ewma or queue_wait`},
		{"band(target=0)", `law: band: target 0 out of range: want more than 0, or leave it out for the default 100ms`},
		{"band(factor=0.0)", `law: band: factor 0.0 out of range: want more than 0, or leave it out for the default 0.7`},
		{"band(tolerance=1.5)", `law: band: tolerance 1.5 out of range: want 0 to less than 1`},
		{"band(factor=nan)", `law: band: factor NaN out of range: want 0 to less than 1`},
		{"band(step=-1)", `law: band: step -1 out of range: want 0 or more`},
	} {
		l, err := law.Parse(test.text)
		if l != nil || !errors.Is(err, law.ErrInvalid) || err.Error() != test.want {
			t.Errorf("%q: %v, %v\nwant %s", test.text, l, err, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "fixed", "band", "band()", " band ( step = 2 ) ", everyText, "band(signal=ewma,ceiling=1h)",
		"band(tolerance=1e-3,quantile=0x1p-2)", "band(target=0)", "band(step=-0)", "band(factor=-0)",
		"band(a=b,a=b)", "band(((", "band)(", "fixed(x)", "band(tolerance=inf)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := law.Parse(text)
		if err != nil {
			if l != nil || !errors.Is(err, law.ErrInvalid) {
				t.Fatalf("%v, %v", l, err)
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
