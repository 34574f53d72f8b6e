package sim

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// plain is a scenario in JSON, one field a line.
const plain = `{ "$schema": "x",
"name": "plain",
"arrivals": {"poisson": {"rate": 100}},
"work": {"exponential": {"mean": "10ms"}},
"server": {"pool": {"workers": 2}},
"slo": "100ms",
"limiter": {"law": "band(target=50ms)"},
"phases": [
	{"length": "10s"},
	{"length": "10s", "speed": 0.5}
]
}`

func TestScenarioErrors(t *testing.T) {
	must.Have(ParseScenario("plain.json", []byte(plain)))(t)
	for _, test := range []struct{ old, with, want string }{
		{`"slo"`, `"sol"`, "f.json:6: sol is unknown: want name, about, arrivals, "},
		{`"workers": 2`, `"worker": 2`, "f.json:5: server.pool.worker is unknown: did you mean workers?"},
		{`"pool"`, `"pind"`, "f.json:5: server.pind is unknown: want pool, sharing, usl, quadratic or unbounded"},
		{`{"pool": {"workers": 2}}`, `{}`, "f.json:5: server is an object: want an object with one key: pool, "},
		{`"rate": 100`, `"rate": -1`, "f.json:3: arrivals.poisson.rate is -1: want more than 0 to 1e8"},
		{`"rate": 100`, `"rate": 0`, "f.json:3: arrivals.poisson.rate is 0: want more than 0"},
		{`"rate": 100`, `"rate": NaN`, "f.json:3: arrivals.poisson.rate is wrong: invalid character 'N'"},
		{`"rate": 100`, `"rate":` + "\n\nNaN", "f.json:5: arrivals.poisson.rate is wrong: invalid character 'N'"},
		{`"speed": 0.5`, `"speed": -Inf`, "f.json:10: phases[1].speed is wrong: invalid character 'I'"},
		{`"slo": "100ms",`, `"slo": "100ms"`, "f.json:7: JSON is wrong: invalid character '\"'"},
		{`"rate": 100`, `"rate": 1e999`, "f.json:3: arrivals.poisson.rate is 1e999: want a number, more than 0 to 1e8"},
		{`"rate": 100`, `"rate": "NaN"`, `f.json:3: arrivals.poisson.rate is "NaN": want a number, more than 0 to 1e8`},
		{`"workers": 2`, `"workers": 2.5`, "f.json:5: server.pool.workers is 2.5: want a whole number, 1 to 1e6"},
		{`"slo": "100ms"`, `"slo": 100`, `f.json:6: slo is 100: want a duration such as "250ms"`},
		{`"slo": "100ms"`, `"slo": "-1s"`, "f.json:6: slo is -1s: want more than 0s to 10000h"},
		{`{"length": "10s", `, `{"length": "0s", `, "f.json:10: phases[1].length is 0s: want 1ms to 10000h"},
		{`{"length": "10s", `, `{`, "f.json:10: phases[1].length is missing: want 1ms to 10000h"},
		{`"speed": 0.5`, `"speed": -0.5`, "f.json:10: phases[1].speed is -0.5: want 0 to 1000"},
		{
			`"speed": 0.5`, `"shares": [1, 2]`,
			"f.json:10: phases[1].shares is [1 2]: want one for each kind of client, of which there are 1",
		},
		{`"speed": 0.5`, `"shares": [0]`, "f.json:10: phases[1].shares is [0]: want one for each kind of client, of which there are 1, and not all of them 0"},
		{`"speed": 0.5`, `"shares": [-1]`, "f.json:10: phases[1].shares[0] is -1: want 0 to 1e6"},
		{
			`"speed": 0.5`, `"pause": {"every": "1s", "for": "1s"}`,
			"f.json:10: phases[1].pause.for is 1s: want less than every, which is 1s",
		},
		{`"band(target=50ms)"`, `"bend"`, `f.json:7: limiter.law is "bend": law: unknown law "bend": did you mean band?`},
		{
			`"band(target=50ms)"`, `"band(target=x)"`,
			`f.json:7: limiter.law is "band(target=x)": law: band: target "x": want a duration`,
		},
		{
			`"law": "band(target=50ms)"`, `"min": 30, "max": 20`,
			"f.json:7: limiter.min is 30: want at most max, which is 20",
		},
		{
			`"law": "band(target=50ms)"`, `"max": 10, "initial": 20`,
			"f.json:7: limiter.initial is 20: want from min to max, which are 1 and 10",
		},
		{`"law": "band(target=50ms)"`, `"window": "10ms"`, "f.json:7: limiter.window is 10ms: want at least interval"},
		{
			`"slo": "100ms"`, `"limiters": 2, "slo": "100ms", "limiter_shares": [1]`,
			"f.json:6: limiter_shares is [1]: want one for each limiter, of which there are 2",
		},
		{
			`"slo": "100ms"`, `"limiters": 2, "slo": "100ms", "limiter_shares": [0, 0]`,
			"f.json:6: limiter_shares is [0 0]: want not all of them 0",
		},
		{
			`"slo": "100ms"`, `"limiters": 2, "slo": "100ms", "limiter_starts": [0, -1]`,
			"f.json:6: limiter_starts[1] is -1: want 0 to 1e7",
		},
		{
			`"slo": "100ms"`, `"slo": "100ms", "limiter_fixed": [1, 2]`,
			"f.json:6: limiter_fixed is [1 2]: want one for each limiter, of which there are 1",
		},
		{
			`"slo": "100ms"`, `"slo": "100ms", "limiter_fixed": [1.5]`,
			"f.json:6: limiter_fixed[0] is 1.5: want a whole number",
		},
		{
			`"slo": "100ms"`, `"slo": "100ms", "limiter_skew": []`,
			"f.json:6: limiter_skew is []: want one for each limiter",
		},
		{
			`"slo": "100ms"`, `"slo": "100ms", "limiter_skew": ["1s"]`,
			`f.json:6: limiter_skew[0] is "1s": want a number, -1e7 to 1e7`,
		},
		{`"name": "plain"`, `"name": "a", "sample": "1us"`, "f.json:2: sample is 1µs: want 1ms to 10000h"},
		{`"name": "plain"`, `"name": "a", "name": "b"`, `f.json:2: JSON has "name" twice`},
		{`"name": "plain",`, ``, "f.json:1: name is missing"},
		{`"server": {"pool": {"workers": 2}},`, ``, "f.json:1: server is missing: want pool, "},
		{`"$schema": "x"`, `"$schema": `, "f.json:1: $schema is wrong: invalid character ','"},
		{`"$schema": "x"`, `"$schema": 5`, "f.json:1: $schema is 5: want a text"},
		{`"name": "plain"`, `"name": null`, "f.json:2: name is null: want a text"},
		{`"law": "band(target=50ms)"`, `"law": 5`, `f.json:7: limiter.law is 5: want a law such as`},
		{`"law": "band(target=50ms)"`, `"shadow": 1`, "f.json:7: limiter.shadow is 1: want true or false"},
		{`{"workers": 2}`, `{"workers": 2}, "usl": {}`, "f.json:5: server is an object: want an object with one key: pool, "},
		{`"phases": [`, `"limiter_shares": 1, "phases": [`, "f.json:8: limiter_shares is 1: want a list"},
		{plain, ``, "f.json:1: JSON ends too early"},
		{plain, `[]`, "f.json:1: scenario is a list: want an object"},
		{plain, plain + "{}", "f.json:12: JSON has more after its end"},
		{plain, strings.Repeat("[", 100), "f.json:1: scenario is a list: want an object"},
		{
			plain[strings.Index(plain, `"phases"`):], `"phases": []}`,
			"f.json:8: phases is empty: want at least one phase",
		},
	} {
		text := strings.Replace(plain, test.old, test.with, 1)
		_, err := ParseScenario("f.json", []byte(text))
		var fault *FieldError
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || !errors.As(err, &fault) {
			t.Errorf("%s:\n got %v\nwant %s", test.with, err, test.want)
		}
	}
}

// TestScenariosCutShort checks that a file that was not written to its end is no scenario.
func TestScenariosCutShort(t *testing.T) {
	for end := range len(plain) {
		if _, err := ParseScenario("f.json", []byte(plain[:end])); err == nil || !strings.HasPrefix(err.Error(), "f.json:") {
			t.Errorf("%s: %v", plain[:end], err)
		}
	}
}

// TestScenariosInGo checks that scenarios built in Go are checked like parsed ones.
func TestScenariosInGo(t *testing.T) {
	for _, test := range []struct {
		change func(*Scenario)
		want   string
	}{
		{func(s *Scenario) { s.Server = nil }, `sim: scenario "steady": server is missing: want pool`},
		{func(s *Scenario) { s.Work = nil }, "work is missing"},
		{func(s *Scenario) { s.Arrivals = nil }, "arrivals is missing"},
		{func(s *Scenario) {
			s.Arrivals = Poisson{Rate: math.NaN()}
		}, "arrivals.poisson.rate is NaN: want more than 0"},
		{func(s *Scenario) { s.Phases[0].Load = math.Inf(1) }, "phases[0].load is +Inf: want 0 to 1000"},
		{func(s *Scenario) { s.Phases = nil }, "phases is empty"},
		{func(s *Scenario) {
			s.Phases = slices.Repeat([]Phase{{Length: 10000 * time.Hour}}, 300)
		}, "phases[1].length is 10000h0m0s, with which all phases last 20000h0m0s: want at most 10000h"},
		{func(s *Scenario) {
			s.Server = Curve(func(float64) float64 { return -1 })
		}, "want a server and arrivals whose times do not go back"},
		{func(s *Scenario) { s.Arrivals = backwards{} }, "want a server and arrivals whose times do not go back"},
		{func(s *Scenario) { s.Arrivals = relative{} }, "want a server and arrivals whose times do not go back"},
		{func(s *Scenario) {
			s.Trace, s.Clients = Trace{{Class: "c"}}, []Client{{Name: "a"}, {Name: "b"}}
		}, `trace has class "c": want the name of a client, a or b`},
		{func(s *Scenario) { s.Trace = Trace{{At: -1, Work: ms}} }, "trace has request 0 at -1ns"},
		{func(s *Scenario) { s.Trace = Trace{{At: 2, Work: ms}, {At: 1, Work: ms}} }, "trace has request 1 at 1ns"},
		{func(s *Scenario) { s.Trace = Trace{{Work: ms, Deadline: -1}} }, "with a deadline of -1ns"},
		{func(s *Scenario) { s.Trace = Trace{{Work: ms, Deadline: math.MaxInt64}} }, "with a deadline of 2562047h"},
	} {
		if _, err := Run(steady(1, test.change), nil, 1); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	for _, server := range []Server{WorkerPool{}, Sharing{}, USL{Alpha: -1}, Quadratic{Double: math.NaN()}} {
		if _, err := server.Station(); err == nil {
			t.Errorf("%#v starts", server)
		}
	}
}

// backwards is a custom arrival process that has lost its sign.
type backwards struct{}

func (backwards) Rates(*Rand) Rates { return backwards{} }

func (backwards) Next(time.Duration) (perSecond float64, until time.Duration) { return -1, Never }

// relative arrivals take the time until which a rate holds for its duration.
type relative struct{}

func (relative) Rates(*Rand) Rates { return relative{} }

func (relative) Next(time.Duration) (perSecond float64, until time.Duration) { return 0, time.Second }

// TestParseSystem checks that a system for a trace may leave out any field, and is still
// checked.
func TestParseSystem(t *testing.T) {
	s, err := ParseSystem("s.json", []byte(`{"server": {"sharing": {"cores": 16}}, "limiter": {"max": 50}}`))
	if want := (Scenario{Server: Sharing{Cores: 16}, Limiter: Limiter{Max: 50}}); err != nil ||
		!reflect.DeepEqual(s, want) {
		t.Errorf("%+v, %v", s, err)
	}
	for text, want := range map[string]string{
		`{"phases": [{"speed": 2}]}`:                       "s.json:1: phases[0].length is missing: want 1ms to 10000h",
		"{\n\"limiter\": {\"min\": 5,\n\"max\": 4}}":       "s.json:2: limiter.min is 5: want at most max, which is 4",
		"{\n\"slo\": \"-1s\"}":                             "s.json:2: slo is -1s: want more than 0s to 10000h",
		`{"cores": 3}`:                                     "s.json:1: cores is unknown: want name, about",
		`{"phases": []}`:                                   "s.json:1: phases is empty: want at least one phase",
		`{"server": {"pool": {"workers": 1}}, "work": {}}`: "s.json:1: work is an object: want an object with one key",
	} {
		if _, err := ParseSystem("s.json", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestServerWithoutName: a server that has no name in the format is not written.
func TestServerWithoutName(t *testing.T) {
	own := steady(1, func(s *Scenario) { s.Server = &lifo{} })
	if _, err := json.Marshal(own); err == nil ||
		!strings.Contains(err.Error(), "want pool, sharing, usl, quadratic or unbounded") {
		t.Errorf("a server without a name is written: %v", err)
	}
}

func FuzzParseScenario(f *testing.F) {
	f.Add([]byte(plain))
	for _, s := range scenarios(f) {
		text := must.Have(s.MarshalJSON())(f)
		if again, err := ParseScenario("f", text); err != nil || !reflect.DeepEqual(again, s) {
			f.Fatalf("%v\n%+v\n%+v", err, s, again)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseScenario("f", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("an error without a line: %v", err)
			}
			return
		}
		again := must.Have(s.MarshalJSON())(t)
		if same, err := ParseScenario("f", again); err != nil || !reflect.DeepEqual(s, same) {
			t.Fatalf("%v\n%s\n%s", err, text, again)
		}
	})
}

func TestReplay(t *testing.T) {
	s := steady(1, func(s *Scenario) {
		s.Trace = Trace{{0, 10 * ms, "a", 0}, {ms, 30 * ms, "b", 0}, {2 * ms, 50 * ms, "b", 0}}
		s.Clients = []Client{{Name: "a"}, {Name: "b", SLO: 40 * ms}}
	})
	if r := mustRun(t, s, nil, 1); r.Requests != 3 || r.Good != 2 || r.Late != 1 || r.Latency.Mean() != 30*ms {
		t.Errorf("%+v, mean %v", r.Tally, r.Latency.Mean())
	}
}
