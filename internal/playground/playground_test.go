package playground_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/playground"
)

const system = `{"name": "mine", "slo": "400ms", "arrivals": {"poisson": {"rate": 100}}, "work": {"constant": {"mean": "50ms"}},
	"server": {"pool": {"workers": 4}}, "phases": [{"length": "5s"}, {"name": "slow", "length": "5s", "speed": 0.5}]}`

func TestRunsOfASystem(t *testing.T) {
	text := must.Have(playground.Handle([]byte(`{"system": ` + system + `, "laws": ["setpoint", "fixed(2)"], "seed": 3}`)))(t)
	var a playground.Answer
	must.Do(t, json.Unmarshal(text, &a))
	if a.Name != "mine" || a.SLO != 400 || len(a.Phases) != 2 || a.Phases[1] != (playground.Phase{Name: "slow", Start: 5}) || len(a.Runs) != 2 {
		t.Fatalf("%.300s", text)
	}
	for _, r := range a.Runs {
		if len(r.Points) != 10 || r.Good+r.Refused == 0 || r.Good > r.Requests || r.P99 < 50 {
			t.Errorf("%+v", r)
		}
	}
	// The load is 5 of 4 workers, so a limit of 2 refuses more than half.
	if fixed := a.Runs[1]; fixed.Limit != 2 || fixed.Refused < fixed.Requests/2 {
		t.Errorf("fixed(2): limit %v, %d of %d refused", fixed.Limit, fixed.Refused, fixed.Requests)
	}
	if setpoint := a.Runs[0]; len(setpoint.Changes) == 0 || !strings.Contains(setpoint.Changes[0].Text, " to ") {
		t.Errorf("changes of setpoint: %v", setpoint.Changes)
	}
}

func TestWrongRequests(t *testing.T) {
	for request, want := range map[string]string{
		`{`:                                     "the request",
		`{"scenario": "slow3"}`:                 "slow30",
		`{"system": {"nonsense": 1}}`:           "nonsense",
		`{"scenario": "slow30", "laws": ["x"]}`: "x",
	} {
		if _, err := playground.Handle([]byte(request)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", request, err, want)
		}
	}
}

func TestScenariosAreListed(t *testing.T) {
	var list []struct{ Name, About string }
	must.Do(t, json.Unmarshal(playground.Scenarios(), &list))
	if len(list) < 20 || list[0].Name == "" || list[0].About == "" {
		t.Errorf("%v", list)
	}
}
