package throttle

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weir-go/weir/internal/settings"
)

// Settings are read from the environment: the settings of a throttle, and the memory target for a
// [load.Memory] of its monitor.
type Settings struct {
	Throttle     Config // for New, with a Monitor added
	MemoryTarget uint64 // in bytes
}

// FromEnv reads settings from the variables whose names begin with the prefix and an underscore,
// such as APP_THROTTLE_WRITE_SETPOINT; docs/databases.md lists them. A variable that is not set has
// its value in the preset that <prefix>_PRESET names, by default relay.
//
// All errors are reported together; each matches [ErrConfig] and names the variable.
// An unknown name is an error too, and so is a setting of a [LoadPID] that another law replaces.
// The variables by which Kubernetes announces services, such as
// APP_THROTTLE_SERVICE_HOST and APP_THROTTLE_PORT, are ignored.
func FromEnv(prefix string) (Settings, error) { return fromEnv(prefix, os.Environ()) }

// defaultMemoryMB is 1.5 GB less the memory that a process needs for other purposes. It comes from
// older settings, as the names of the variables do.
const defaultMemoryMB = 1400

func fromEnv(prefix string, environ []string) (Settings, error) {
	prefix = strings.TrimSuffix(prefix, "_")
	if prefix == "" {
		return Settings{}, invalid("prefix", strconv.Quote(prefix), "the beginning of the names, such as APP_THROTTLE")
	}
	e := environment{prefix: prefix, values: map[string]string{}}
	for _, pair := range environ {
		if name, value, ok := strings.Cut(pair, "="); ok {
			e.values[name] = value
		}
	}
	s := e.settings()
	e.complainAboutNames()
	if err := errors.Join(e.errs...); err != nil {
		return Settings{}, err
	}
	return s, nil
}

// environment reads variables and gathers their errors.
type environment struct {
	prefix string
	values map[string]string
	known  []string
	errs   []error
}

func (e *environment) settings() Settings {
	s := Settings{Throttle: Relay(), MemoryTarget: defaultMemoryMB << 20}
	switch preset := e.text("PRESET"); preset {
	case "", "relay":
	case "import":
		s.Throttle = Import()
	default:
		e.complain("PRESET", preset, "relay or import")
	}
	if text := e.text("ENABLED"); text != "" {
		on, err := strconv.ParseBool(text)
		if s.Throttle.Off = !on; err != nil {
			e.complain("ENABLED", text, "true or false")
		}
	}
	number(e, "TARGET_MEMORY_MB", &s.MemoryTarget, 1<<20, 1, 1<<40)
	number(e, "TICK_MS", &s.Throttle.Tick, inMS, leastTick, mostTick)
	both := 0.0 // 0 keeps the setpoints of the preset
	number(e, "SETPOINT", &both, 1, 0.01, 10)
	reads, writes := e.side("READ", &s.Throttle.Reads, both), e.side("WRITE", &s.Throttle.Writes, both)
	if reads != "" && writes != "" {
		e.unused("READ_LAW="+reads+" and WRITE_LAW="+writes, "SETPOINT")
	}
	return s
}

// side reads the settings of one side, whose preset has one LoadPID. It returns the name of the law
// that replaces the LoadPID, "" for none.
func (e *environment) side(name string, s *Side, setpoint float64) (other string) {
	p := s.Laws[0].(LoadPID)
	p.Setpoint = cmp.Or(setpoint, p.Setpoint)
	number(e, name+"_SETPOINT", &p.Setpoint, 1, 0.01, 10)
	number(e, name+"_KP", &p.Kp, 1, 0, 1e6)
	number(e, name+"_KI", &p.Ki, 1, 0, 1e6)
	number(e, name+"_KD", &p.Kd, 1, 0, 1e6)
	number(e, name+"_FILTER_MS", &p.Filter, inMS, leastTime, mostTime)
	number(e, name+"_MAX_DELAY_MS", &p.MaxDelay, inMS, leastTime, mostTime)
	number(e, name+"_LATENCY_TARGET_MS", &s.LatencyTarget, inMS, leastTime, mostTime)
	number(e, name+"_QUEUE_TIMEOUT_MS", &s.Queue.Timeout, inMS, leastTime, mostTime)
	number(e, name+"_MAX_IN_FLIGHT", &s.MaxInFlight, 1, 1, defaultInFlight)
	if p.Kp == 0 && p.Ki == 0 && p.Kd == 0 {
		e.complain(name+"_KP", "0", "a gain other than 0, here or in KI or KD: to throttle nothing, set ENABLED=false")
	}
	switch law := e.text(name + "_LAW"); law {
	case "":
		s.Laws = []LoadLaw{p, Concurrency{}}
	case "pid":
		s.Laws = []LoadLaw{p}
	case "drain":
		s.Laws, other = []LoadLaw{DrainRate{MaxDelay: p.MaxDelay}}, law
	case "concurrency":
		s.Laws, other = []LoadLaw{Concurrency{}}, law
		e.unused(name+"_LAW="+law, name+"_MAX_DELAY_MS")
	default:
		e.complain(name+"_LAW", law, "pid, drain or concurrency")
	}
	if other != "" {
		e.unused(name+"_LAW="+other, name+"_SETPOINT", name+"_KP", name+"_KI", name+"_KD", name+"_FILTER_MS")
	}
	return other
}

// unused complains about variables that have no effect beside others.
func (e *environment) unused(beside string, names ...string) {
	for _, name := range names {
		if text := e.text(name); text != "" {
			e.complain(name, text, "none beside "+beside)
		}
	}
}

func (e *environment) text(name string) string {
	e.known = append(e.known, name)
	return e.values[e.prefix+"_"+name]
}

// number reads a number, in units of a setting. A variable that is not set leaves the setting as it
// is.
func number[N settings.Number | uint64](e *environment, name string, into *N, unit, least, most float64) {
	text, kind := e.text(name), "number"
	if text == "" {
		return
	}
	value, err := strconv.ParseFloat(text, 64)
	valid := err == nil && value >= least && value <= most // NaN is not
	if _, whole := any(into).(*int); whole {
		kind, valid = "whole number", valid && value == math.Trunc(value)
	}
	if !valid {
		e.complain(name, text, fmt.Sprintf("a %s from %v to %s", kind, least, strconv.FormatFloat(most, 'f', -1, 64)))
		return
	}
	*into = N(value * unit)
}

// The bounds of TICK_MS: with 0.001 an idle program took a third of a processor, and after 10 s a
// store has long stalled. The bounds of other durations only keep out nonsense.
const (
	inMS      = float64(time.Millisecond)
	leastTick = 1
	mostTick  = 10_000
	leastTime = 0.001
	mostTime  = 24 * 60 * 60 * 1000
)

func (e *environment) complain(name, value, want string) {
	e.errs = append(e.errs, invalid(e.prefix+"_"+name, strconv.Quote(value), want))
}

// complainAboutNames reports the variables that begin with the prefix and are no settings.
func (e *environment) complainAboutNames() {
	for _, name := range slices.Sorted(maps.Keys(e.values)) {
		own, ours := strings.CutPrefix(name, e.prefix+"_")
		if ours && !slices.Contains(e.known, own) && !settings.AnnouncesService(own) {
			e.errs = append(e.errs, fmt.Errorf("%w: %s is not a setting", ErrConfig, name))
		}
	}
}
