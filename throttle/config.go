package throttle

import (
	"cmp"
	"errors"
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

	// Emergency is the load at which a side goes to a quarter of its flow, whatever its laws say,
	// until the load is below nine tenths of that. It does so for 10 s at most, and then not again
	// for as long. Defaults to 1.
	Emergency float64

	// Tick is how often the laws decide. Defaults to 100 ms, or to 20 ms with a [DrainRate].
	Tick time.Duration

	// Classify returns the outcome of an operation from its error.
	// Defaults to [weir.Classify].
	Classify func(error) weir.Outcome

	// OnEvent, if set, is called when a side loses or regains its signals, and when an emergency
	// begins or ends: by Run, one call at a time, outside all locks. It delays the next decision:
	// keep it short.
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
)

// complete checks the settings and fills in the defaults.
func (c Config) complete() (Config, error) {
	c.Name = cmp.Or(c.Name, "throttle")
	err := cmp.Or(
		settings.Default(ErrConfig, "Tick", &c.Tick, c.usualTick()),
		c.Reads.complete("Reads", readPID),
		c.Writes.complete("Writes", writePID),
		settings.Default(ErrConfig, "Emergency", &c.Emergency, 1),
	)
	return c, err
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

func (s *Side) complete(field string, otherwise LoadPID) error {
	if len(s.Laws) == 0 {
		s.Laws = []LoadLaw{otherwise, Concurrency{}}
	}
	s.Queue.Size = cmp.Or(s.Queue.Size, defaultQueueSize)
	return cmp.Or(
		settings.NotNegative(ErrConfig, field+".LatencyTarget", s.LatencyTarget, "0 (none) or more"),
		settings.DefaultUpTo(ErrConfig, field+".MaxInFlight", &s.MaxInFlight, defaultInFlight, defaultInFlight),
	)
}

func invalid(field string, value any, want string) error {
	return settings.Invalid(ErrConfig, field, value, want)
}

func notNegative[N settings.Number](field string, value N) error {
	return settings.NotNegative(ErrConfig, field, value, "0 (the default) or more")
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
