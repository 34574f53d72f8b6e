package throttle

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/load"
)

// Config configures a [Throttle]. The zero Config paces by the symptoms of its own
// operations alone; with a Monitor it is [Relay]. 0 always means the default; a value
// out of range is an error that names the field.
type Config struct {
	// Name identifies the throttle in errors and events. Defaults to "throttle".
	Name string

	// Off makes the throttle free: Acquire neither waits, refuses nor measures.
	Off bool

	// Monitor measures how close the database is to its limit. Without one, only the
	// latency targets and the symptoms of the operations themselves pace.
	Monitor *load.Monitor

	// Reads and Writes are the two sides.
	Reads, Writes Side

	// Emergency is when to go to the slowest.
	Emergency Emergency

	// Tick is how often the laws decide. Defaults to 100 ms, or to 20 ms with a [DrainRate].
	Tick time.Duration

	// Classify returns the outcome of an operation from its error.
	// Defaults to [weir.Classify].
	Classify func(error) weir.Outcome

	// OnEvent, if set, is called when a side loses or regains the signals that it
	// goes by, and when an emergency begins or ends: by Run, one call at a time, outside all
	// locks. It delays the next decision: keep it short.
	// Acquire calls it too, for [NotRunning] and [MonitorNotRunning], once at most.
	OnEvent func(Event)
}

// A Side is how reads, or writes, are throttled.
type Side struct {
	// Laws find the pace, and how much may run at once; the strictest counts. Default to one
	// [LoadPID], with gentler gains and a MaxDelay of 200 ms for reads, and one [Concurrency].
	// While signals are missing the first LoadPID among them decides, or the default one if there
	// is none.
	Laws []LoadLaw

	// LatencyTarget is the value to which the p95 of the latency, from the start of the work, is
	// to stay below: there it is a load of 1. An operation that runs for twice as
	// long is a load of 1 too. 0 means none. To a [Concurrency] it is the budget of law.Setpoint.
	LatencyTarget time.Duration

	// Queue is where operations wait for their turn. Its Size defaults to 1000, its
	// Timeout to 1 s. An operation that cannot start in time is refused at once.
	Queue weir.Queue

	// MaxInFlight is how much cost may run at once, and the greatest cost of one operation.
	// Defaults to 1,000,000,000, which is no bound. A [Concurrency] finds a lower one.
	MaxInFlight int
}

// An Emergency is when to pace at a share of the flow, whatever the laws say.
type Emergency struct {
	// Enter is the load at which it begins. Defaults to 1.
	Enter float64
	// Leave is the load below which it ends. Defaults to nine tenths of Enter,
	// and is at most Enter.
	Leave float64
	// Longest is how long it lasts at most, and how long after that another one
	// may begin. Defaults to 10 s.
	Longest time.Duration
	// Share is the part of the flow that it keeps, more than 0 to 1. Defaults to a quarter.
	Share float64
}

// ErrConfig matches every error about a setting.
var ErrConfig = settings.ErrConfigOf("throttle")

// ErrRunning is the error of Run if the throttle is running already.
var ErrRunning = errors.New("throttle: already running")

// Defaults of [Config].
const (
	defaultTick      = 100 * time.Millisecond
	drainTick        = 20 * time.Millisecond // as often as its source is polled
	defaultQueueSize = 1000
	defaultInFlight  = settings.MaxSlots
	defaultEnter     = 1
	defaultLeave     = 0.9
	defaultLongest   = 10 * time.Second
	defaultShare     = 0.25
)

// complete checks the settings and fills in the defaults.
func (c Config) complete() (Config, error) {
	e := &c.Emergency
	if err := cmp.Or(
		notNegative("Tick", c.Tick),
		notNegative("Reads.LatencyTarget", c.Reads.LatencyTarget),
		notNegative("Writes.LatencyTarget", c.Writes.LatencyTarget),
		atMost("Reads.MaxInFlight", c.Reads.MaxInFlight, defaultInFlight),
		atMost("Writes.MaxInFlight", c.Writes.MaxInFlight, defaultInFlight),
		notNegative("Emergency.Enter", e.Enter),
		notNegative("Emergency.Leave", e.Leave),
		notNegative("Emergency.Longest", e.Longest),
		atMost("Emergency.Share", e.Share, 1),
	); err != nil {
		return c, err
	}
	e.Enter = cmp.Or(e.Enter, defaultEnter)
	e.Leave = cmp.Or(e.Leave, defaultLeave*e.Enter)
	if e.Leave > e.Enter {
		return c, invalid("Emergency.Leave", e.Leave, fmt.Sprintf("at most Enter, which is %v", e.Enter))
	}
	e.Longest = cmp.Or(e.Longest, defaultLongest)
	e.Share = cmp.Or(e.Share, defaultShare)
	c.Name = cmp.Or(c.Name, "throttle")
	c.Tick = cmp.Or(c.Tick, c.usualTick())
	c.Reads = c.Reads.complete(readPID)
	c.Writes = c.Writes.complete(writePID)
	return c, nil
}

// usualTick is how often the laws decide if it is not said.
func (c Config) usualTick() time.Duration {
	for _, l := range slices.Concat(c.Reads.Laws, c.Writes.Laws) {
		if _, drains := l.(DrainRate); drains {
			return drainTick
		}
	}
	return defaultTick
}

func (s Side) complete(otherwise LoadPID) Side {
	if len(s.Laws) == 0 {
		s.Laws = []LoadLaw{otherwise, Concurrency{}}
	}
	s.MaxInFlight = cmp.Or(s.MaxInFlight, defaultInFlight)
	s.Queue.Size = cmp.Or(s.Queue.Size, defaultQueueSize)
	return s
}

func invalid(field string, value any, want string) error {
	return settings.Invalid(ErrConfig, field, value, want)
}

func notNegative[N settings.Number](field string, value N) error {
	return settings.NotNegative(ErrConfig, field, value, "0 (the default) or more")
}

func atMost[N settings.Number](field string, value, most N) error {
	if value >= 0 && value <= most {
		return nil
	}
	return invalid(field, value, fmt.Sprintf("0 (the default) to %v", most))
}

// Relay returns the settings for a server whose clients read and write: both sides
// hold the load at 0.85, reads more gently than writes and by at most 200 ms.
func Relay() Config {
	return Config{Reads: Side{Laws: []LoadLaw{readPID, Concurrency{}}}, Writes: Side{Laws: []LoadLaw{writePID, Concurrency{}}}}
}

// Import returns the settings for a bulk import: writes hold the load at 0.70, which
// leaves room for bursts, with an integral gain of 0.15 for a load
// that lasts, and wait for their turn up to a minute; reads are as in [Relay].
func Import() Config {
	c := Relay()
	writes := writePID
	writes.Setpoint, writes.Ki = 0.70, 0.15
	c.Writes.Laws = []LoadLaw{writes, Concurrency{}}
	c.Writes.Queue.Timeout = time.Minute
	return c
}
