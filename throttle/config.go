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

	// Emergency is the load at which the pace of a side becomes at most a quarter of its flow,
	// whatever its laws say, until the load is below nine tenths of Emergency. An emergency that
	// has lasted 10 s ends, and no other begins in the next 10 s. Defaults to 1.
	Emergency float64

	// Tick is the time between two decisions of the laws. Defaults to 100 ms, or to 20 ms with a
	// [DrainRate].
	Tick time.Duration

	// Classify returns the outcome of an operation from its error.
	// Defaults to [weir.Classify].
	Classify func(error) weir.Outcome

	// OnEvent, if set, is called when a side loses or regains its signals, and when an emergency
	// begins or ends. Run makes one call at a time, outside all locks. The next decision waits for
	// the call, so keep it short. Acquire calls OnEvent too, for [NotRunning] and
	// [MonitorNotRunning], once at most.
	OnEvent func(Event)
}

// A Side has the settings for reads, or for writes.
type Side struct {
	// Laws find the pace, and the cost that may run at once. The strictest law counts. Laws default
	// to one [LoadPID], with gentler gains and a MaxDelay of 200 ms for reads, and one
	// [Concurrency]. While signals are missing, the first LoadPID in Laws decides, or the default
	// LoadPID if Laws has none.
	Laws []LoadLaw

	// LatencyTarget is the bound for the p95 of the latency, from the start of the work. A p95 at
	// the target is a load of 1, and so is an operation that has run for twice as long. 0 means no
	// target. For a [Concurrency] it is the budget of law.Setpoint.
	LatencyTarget time.Duration

	// Queue has the settings of the queue in which operations wait for their turn. Its Size
	// defaults to 1000, its Timeout to 1 s. An operation that cannot start in time is refused at
	// once.
	Queue weir.Queue

	// MaxInFlight bounds the cost that runs at once, and the cost of one operation. Defaults to
	// 1,000,000,000, which is no bound. A [Concurrency] finds a lower bound.
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

// usualTick returns the default of Tick.
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

// Import returns the settings for a bulk import. Writes hold the load at 0.70, which leaves room
// for bursts, with an integral gain of 0.15 for a load that lasts. They wait for their turn up to a
// minute. Reads are as in [Relay].
func Import() Config {
	c := Relay()
	writes := writePID
	writes.Setpoint, writes.Ki = 0.70, 0.15
	c.Writes.Laws = []LoadLaw{writes, Concurrency{}}
	c.Writes.Queue.Timeout = time.Minute
	return c
}
