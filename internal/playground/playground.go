package playground

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/weir-go/weir/internal/suites"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

// A Request is one scenario under several laws, with the same requests of clients.
type Request struct {
	Scenario string          `json:"scenario"` // name of a scenario of internal/suites, or
	System   json.RawMessage `json:"system"`   // a scenario in the format of sim.ParseScenario
	Laws     []string        `json:"laws"`
	Seed     uint64          `json:"seed"`
}

// An Answer has a run for each law, in their order.
type Answer struct {
	Name   string  `json:"name"`
	About  string  `json:"about"`
	SLO    float64 `json:"slo"` // in milliseconds
	Phases []Phase `json:"phases"`
	Runs   []Run   `json:"runs"`
}

// A Phase begins at a time, in seconds.
type Phase struct {
	Name  string  `json:"name"`
	Start float64 `json:"start"`
}

// A Run is the result of one law.
type Run struct {
	Law      string     `json:"law"`
	Requests int        `json:"requests"`
	Good     int        `json:"good"` // answered within the SLO
	Late     int        `json:"late"`
	Refused  int        `json:"refused"`
	Limit    float64    `json:"limit"` // mean
	P99      float64    `json:"p99"`   // in milliseconds
	Points   [][5]Value `json:"points"`
	Changes  []Change   `json:"changes"`
}

// A Value is one number of a point: seconds, limit, work in flight, good answers a second, and the
// p99 in milliseconds.
type Value = float64

// A Change describes a change of the limit.
type Change struct {
	At   float64 `json:"at"` // in seconds
	Text string  `json:"text"`
}

// Handle answers a [Request] with an [Answer], both in JSON. A wrong scenario or law is an error.
func Handle(request []byte) ([]byte, error) {
	var r Request
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, fmt.Errorf("playground: the request: %w", err)
	}
	scenario, err := r.scenario()
	if err != nil {
		return nil, err
	}
	answer := Answer{Name: scenario.Name, About: scenario.About, SLO: milliseconds(scenario.SLO)}
	start := time.Duration(0)
	for _, phase := range scenario.Phases {
		answer.Phases = append(answer.Phases, Phase{phase.Name, start.Seconds()})
		start += phase.Length
	}
	for _, text := range r.Laws {
		l, err := law.Parse(text)
		if err != nil {
			return nil, err
		}
		result, err := sim.Run(scenario, l, r.Seed)
		if err != nil {
			return nil, err
		}
		answer.Runs = append(answer.Runs, run(text, result))
	}
	return json.Marshal(answer)
}

func (r Request) scenario() (sim.Scenario, error) {
	if len(r.System) > 0 {
		return sim.ParseScenario("your system", r.System)
	}
	return suites.Lookup(r.Scenario)
}

const mostChanges = 200 // of a run: the last ones

func run(law string, r *sim.Result) Run {
	out := Run{
		Law: law, Requests: r.Requests, Good: r.Good, Late: r.Late, Refused: r.Refused,
		Limit: r.LimitMean, P99: milliseconds(r.Latency.Quantile(0.99)), Changes: []Change{},
	}
	for _, p := range r.Series {
		out.Points = append(out.Points, [5]Value{p.At.Seconds(), float64(p.Limit), float64(p.InFlight), p.Good, milliseconds(p.P99)})
	}
	for _, c := range r.Changes[max(len(r.Changes)-mostChanges, 0):] {
		out.Changes = append(out.Changes, Change{c.At.Seconds(), explain(c)})
	}
	return out
}

func explain(c sim.Change) string { return law.Explain(c.Reason, c.From, c.To) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Scenarios lists the scenarios of the suites with a sentence about each, as JSON.
func Scenarios() []byte {
	type line struct {
		Name  string `json:"name"`
		About string `json:"about"`
	}
	var list []line
	for _, s := range suites.All() {
		list = append(list, line{s.Name, s.About})
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // texts have no error
	}
	return text
}
