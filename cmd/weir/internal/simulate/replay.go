package simulate

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/paths"
	"github.com/weir-go/weir/sim"
)

// A Recording is a log of requests, with the settings to replay it.
type Recording struct {
	File   string // "-" for standard input
	Reader sim.TraceReader

	// Loads and Rates are the speeds of the replay: Loads as multiples of the server's capacity,
	// and Rates as multiples of the recorded rate. Each speed makes a scenario. Without speeds the
	// only scenario has the recorded rate. Each of them is a scenario; without any there is one, at
	// the recorded rate.
	Loads, Rates []float64

	// Phases are the phases of the server during the replay. The last one lasts as long as
	// the requests. The default is one phase.
	Phases []sim.Phase
}

// Scenarios returns scenarios that send the requests to the system. They ignore the system's own
// load and phases. If the system has no SLO, its SLO is the longest deadline of a request.
func (r Recording) Scenarios(system sim.Scenario) (scenarios []sim.Scenario, err error) {
	trace, err := r.read()
	if err != nil {
		return nil, err
	}
	if system.SLO == 0 {
		if system.SLO, err = patience(trace); err != nil {
			return nil, err
		}
	}
	if r.Phases == nil { // with phases the server may be faster
		if err := answerable(trace, system); err != nil {
			return nil, fmt.Errorf("%s: %w", r.name(), err)
		}
	}
	system.Name = strings.TrimSuffix(filepath.Base(r.name()), filepath.Ext(r.File))
	capacity, known := sim.EffectiveWorkers(system.Server)
	recorded := trace.Offered() / capacity
	simple := reflect.ValueOf(r.Reader).IsZero()
	switch {
	case len(r.Loads)+len(r.Rates) == 0 && (simple || recorded == 0):
		s, err := r.replay(system, trace)
		return []sim.Scenario{s}, err
	case !known && r.Loads != nil:
		return nil, errors.New("--load: the capacity of this server is not known: want --rate")
	case recorded == 0:
		return nil, fmt.Errorf("%s: has a single arrival time, and so no rate: want it without --load and --rate", r.name())
	}
	rates := r.Rates
	if len(r.Loads)+len(rates) == 0 {
		rates = []float64{1}
	}
	for _, load := range r.Loads {
		rates = append(rates, load/recorded)
	}
	for _, rate := range rates {
		s := system
		s.Name += ", " + speed(rate, rate*recorded, known, r.Loads != nil)
		s, err := r.replay(s, trace.Faster(rate))
		if err != nil {
			return nil, err
		}
		scenarios = append(scenarios, s)
	}
	return scenarios, nil
}

// speed describes the speed of requests, in both forms if both are known.
func speed(rate, load float64, known, byLoad bool) string {
	short := func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
	switch {
	case byLoad:
		return fmt.Sprintf("load %s (rate x%s)", short(load), short(rate))
	case known:
		return fmt.Sprintf("rate x%s (load %s)", short(rate), short(load))
	}
	return "rate x" + short(rate)
}

func (r Recording) read() (sim.Trace, error) {
	var in io.ReadCloser = os.Stdin
	if r.File != "-" {
		file, err := os.Open(r.File)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: want a log, or - for the standard input", r.File, paths.Cause(err))
		}
		if info, err := file.Stat(); err == nil && info.IsDir() {
			_ = file.Close()
			return nil, fmt.Errorf("%s: is a directory: want the logs in it", r.File)
		}
		in = file
	}
	defer in.Close()
	log := bufio.NewReader(in)
	if magic, _ := log.Peek(len(gzipped)); string(magic) == gzipped {
		plain, err := gzip.NewReader(log)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name(), err)
		}
		log = bufio.NewReader(plain)
	}
	return r.Reader.Parse(r.name(), log)
}

// gzipped is the beginning of every gzip file.
const gzipped = "\x1f\x8b"

func (r Recording) name() string {
	if r.File == "-" {
		return "stdin"
	}
	return r.File
}

// patience returns the longest deadline of a trace. A request without a deadline is an error.
func patience(t sim.Trace) (longest time.Duration, err error) {
	without := 0
	for _, a := range t {
		longest = max(longest, a.Deadline)
		if a.Deadline == 0 {
			without++
		}
	}
	if without > 0 {
		return 0, fmt.Errorf("--slo is missing: want how long a client waits, such as 400ms, for the %d requests without a deadline of their own", without)
	}
	return longest, nil
}

// answerable returns an error if no request can be answered in time under any law, because all laws
// would score alike. The cause is often the unit of a column.
func answerable(t sim.Trace, system sim.Scenario) error {
	patient := system.SLO
	for _, c := range system.Clients {
		patient = max(patient, c.SLO)
	}
	for _, a := range t {
		if a.Work <= cmp.Or(a.Deadline, patient) {
			return nil
		}
	}
	return fmt.Errorf("no request can be answered in time: the first takes %v on the idle server, and its client waits %v: "+
		"want a longer time, or --service with the unit of its column, such as 'took*ms'", t[0].Work, cmp.Or(t[0].Deadline, patient))
}

func (r Recording) replay(system sim.Scenario, t sim.Trace) (sim.Scenario, error) {
	system.Trace, system.Phases = t, []sim.Phase{{Length: max(t.Length(), time.Millisecond)}}
	if t.Length() > longest || t.Length() < 0 {
		return system, fmt.Errorf("%s: lasts more than 10000h: want it faster", system.Name)
	}
	if r.Phases != nil {
		var err error
		if system.Phases, err = over(t.Length(), r.Phases); err != nil {
			return system, fmt.Errorf("--phases: %s: %w", system.Name, err)
		}
	}
	err := check(system)
	if fault, ok := errors.AsType[*sim.FieldError](err); ok {
		err = fmt.Errorf("%s: %w", r.name(), fault)
	}
	return system, err
}

const longest = 10000 * time.Hour

// over fits phases to a trace: the last one ends with the trace.
func over(length time.Duration, phases []sim.Phase) ([]sim.Phase, error) {
	laid := append([]sim.Phase(nil), phases...)
	start := time.Duration(0)
	for i, p := range laid {
		switch {
		case p.Load != 0 && p.Load != 1:
			return nil, unused(i, "load", fmt.Sprint(p.Load))
		case p.Shares != nil:
			return nil, unused(i, "shares", fmt.Sprint(p.Shares))
		case p.Work != nil:
			return nil, unused(i, "work", fmt.Sprintf("%+v", p.Work))
		case start >= length:
			return nil, &sim.FieldError{Field: fmt.Sprintf("phases[%d]", i), Problem: fmt.Sprintf("begins after %v: want less than %v, when the trace ends", start, length.Round(time.Millisecond))}
		}
		if i == len(laid)-1 {
			laid[i].Length = length - start
		}
		start += p.Length
	}
	return laid, nil
}

func unused(phase int, field, value string) error {
	return &sim.FieldError{Field: fmt.Sprintf("phases[%d].%s", phase, field), Problem: fmt.Sprintf("is %s: want it left out, as a trace brings its own requests", value)}
}
