package throttle

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weir-go/weir/internal/settings"
)

// Settings come from the environment: the throttle's, and the memory
// target, which belongs to a [load.Memory] of its monitor.
type Settings struct {
	Throttle     Config // for New, with a Monitor added
	MemoryTarget uint64 // in bytes
}

// FromEnv reads settings from the variables whose names begin with the prefix and an
// underscore, such as APP_THROTTLE_WRITE_SETPOINT; docs/databases.md lists them. A
// variable that is not set has the value of the preset that <prefix>_PRESET names, relay if none.
//
// All errors are reported together; each matches [ErrConfig] and names the variable.
// An unknown name is an error too, and so is a setting of a [LoadPID] that another law replaces.
// The variables by which Kubernetes announces services, such as
// APP_THROTTLE_SERVICE_HOST and APP_THROTTLE_PORT, are ignored.
func FromEnv(prefix string) (Settings, error) { return fromEnv(prefix, os.Environ()) }

// defaultMemoryMB is 1.5 GB less the memory that a process needs besides: the target of the older
// settings that these names come from.
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
	s := Settings{Throttle: Relay()}
	switch preset := e.text("PRESET"); preset {
	case "", "relay":
	case "import":
		s.Throttle = Import()
	default:
		e.complain("PRESET", preset, "relay or import")
	}
	on := true
	e.flag("ENABLED", &on)
	s.Throttle.Off = !on

	megabytes := float64(defaultMemoryMB)
	e.number("TARGET_MEMORY_MB", &megabytes, 1, 1<<40)
	s.MemoryTarget = uint64(megabytes * (1 << 20))

	e.milliseconds("TICK_MS", &s.Throttle.Tick, leastTick, mostTick)

	both := 0.0 // as the preset has it
	e.number("SETPOINT", &both, 0.01, 10)
	reads, writes := e.side("READ", &s.Throttle.Reads, both), e.side("WRITE", &s.Throttle.Writes, both)
	if reads != "" && writes != "" {
		e.unused("READ_LAW="+reads+" and WRITE_LAW="+writes, "SETPOINT")
	}
	return s
}

// side reads the settings of one side, whose preset has one LoadPID. It returns the name of the law
// that takes its place, "" for none.
func (e *environment) side(name string, s *Side, setpoint float64) (other string) {
	p := s.Laws[0].(LoadPID)
	p.Setpoint = cmp.Or(setpoint, p.Setpoint)
	e.number(name+"_SETPOINT", &p.Setpoint, 0.01, 10)
	e.number(name+"_KP", &p.Kp, 0, 1e6)
	e.number(name+"_KI", &p.Ki, 0, 1e6)
	e.number(name+"_KD", &p.Kd, 0, 1e6)
	e.milliseconds(name+"_FILTER_MS", &p.Filter, leastTime, mostTime)
	e.milliseconds(name+"_MAX_DELAY_MS", &p.MaxDelay, leastTime, mostTime)
	e.milliseconds(name+"_LATENCY_TARGET_MS", &s.LatencyTarget, leastTime, mostTime)
	e.milliseconds(name+"_QUEUE_TIMEOUT_MS", &s.Queue.Timeout, leastTime, mostTime)
	e.whole(name+"_MAX_IN_FLIGHT", &s.MaxInFlight, 1, defaultInFlight)
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

// set parses a variable into a setting. One that is not set leaves the setting as it is.
func set[T any](e *environment, name string, into *T, want string, parse func(string) (T, error)) {
	text := e.text(name)
	if text == "" {
		return
	}
	value, err := parse(text)
	if err != nil {
		e.complain(name, text, want)
		return
	}
	*into = value
}

func within[T cmp.Ordered](value, least, most T, err error) (T, error) {
	if inside := value >= least && value <= most; err == nil && !inside { // NaN is not
		err = strconv.ErrRange
	}
	return value, err
}

func (e *environment) flag(name string, into *bool) {
	set(e, name, into, "true or false", strconv.ParseBool)
}

func (e *environment) number(name string, into *float64, least, most float64) {
	set(e, name, into, fmt.Sprintf("a number from %v to %v", least, most), func(text string) (float64, error) {
		value, err := strconv.ParseFloat(text, 64)
		return within(value, least, most, err)
	})
}

func (e *environment) whole(name string, into *int, least, most int) {
	set(e, name, into, fmt.Sprintf("a whole number from %d to %d", least, most), func(text string) (int, error) {
		value, err := strconv.Atoi(text)
		return within(value, least, most, err)
	})
}

func (e *environment) milliseconds(name string, into *time.Duration, shortest, longest time.Duration) {
	least, most := shortest.Seconds()*1000, longest.Seconds()*1000
	set(e, name, into, fmt.Sprintf("a number from %v to %v", least, most), func(text string) (time.Duration, error) {
		value, err := strconv.ParseFloat(text, 64)
		value, err = within(value, least, most, err)
		return time.Duration(value * float64(time.Millisecond)), err
	})
}

// The bounds of TICK_MS: with 0.001 an idle program took a third of a processor, and after 10 s a
// store has long stalled. The bounds of other durations only keep out nonsense.
const (
	leastTick = time.Millisecond
	mostTick  = 10 * time.Second
	leastTime = time.Microsecond
	mostTime  = 24 * time.Hour
)

func (e *environment) complain(name, value, want string) {
	e.errs = append(e.errs, invalid(e.prefix+"_"+name, strconv.Quote(value), want))
}

// complainAboutNames reports the names that mean nothing.
func (e *environment) complainAboutNames() {
	for _, name := range slices.Sorted(maps.Keys(e.values)) {
		own, ours := strings.CutPrefix(name, e.prefix+"_")
		if ours && !slices.Contains(e.known, own) && !settings.AnnouncesService(own) {
			e.errs = append(e.errs, fmt.Errorf("%w: %s is not a setting", ErrConfig, name))
		}
	}
}
