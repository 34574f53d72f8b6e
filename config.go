package weir

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/internal/wire"
	"github.com/weir-go/weir/law"
)

// Config configures a [Limiter]. The zero Config works: 0 always means the default. A value out of
// range is an error that names the field.
type Config struct {
	// Name identifies the limiter in errors, events and metrics.
	// Defaults to "limiter".
	Name string

	// Min and Max bound the limit on work in flight. They default to 1 and 100,000, and may be from
	// 1 to 1,000,000,000.
	Min, Max int

	// Initial is the first limit. Defaults to 4 with law.Setpoint, which doubles the limit from
	// window to window, and to 20 with other laws. A default outside Min and Max becomes the nearer
	// bound.
	Initial int

	// Law finds the limit. Defaults to law.Setpoint{}, which needs no target. It
	// runs under the limiter's lock and must not call the limiter.
	Law law.Law

	// Interval is how often the law decides. Defaults to 1 s. Laws that plan
	// their own windows, such as law.Setpoint, ignore Interval, Window and
	// MinSamples.
	Interval time.Duration

	// Window is how far back the law looks. The law sees no older measurement, and none from before
	// the last change of the limit. Defaults to 10 s, or to Interval if Interval is longer. It may
	// not be shorter than Interval.
	Window time.Duration

	// MinSamples is the number of completions that the law needs for a decision. Defaults to 20.
	MinSamples int

	// Queue holds work while the limit is reached. With the zero Queue, work above the limit is
	// refused at once.
	Queue Queue

	// Timeout bounds the execution of work given to Do, apart from the time in the queue. The
	// work gets it through its context, with [ErrExecutionTimeout] as the cause. Acquire is
	// not affected. Work that times out is missing from the latency, so make the law count
	// it, as with law.Band{MaxErrorRate: 0.05}; law.Setpoint does not count it as throughput.
	// Defaults to no timeout.
	Timeout time.Duration

	// Classify maps the error of finished work to the outcome for its downstream. Defaults to
	// [Classify].
	Classify func(error) Outcome

	// Breaker, if set, decides before the limiter whether work may start, and gets the outcome of
	// the work; see [Breaker]. An update may replace it.
	Breaker Breaker

	// OnEvent, if set, is called with every change of the limit and every refusal, outside all
	// locks. The goroutine that caused the event waits for the call, so keep it short. Calls may
	// overlap and overtake each other; [Event].Seq has the order.
	OnEvent func(Event)

	// Histograms keeps the data that monitoring systems read: [Snapshot].Latencies, QueueWaits and
	// Peak. They take 112 bytes, and 64 bytes for each octave that latencies or waits fall into:
	// 0.7 to 1.5 KB for most limiters. An update that turns Histograms off drops them.
	Histograms bool

	// Exemplar, if set, returns a label that leads from a latency to its request, such as the
	// identifier of a trace, or "" to skip the request. It is called outside all locks with the
	// context of work that was just admitted, at most ten times a second. If the work succeeds, the
	// label becomes one of Latencies.Exemplars. If Exemplar panics, the permit is given back and
	// the panic continues. An update drops all exemplars. Exemplar needs Histograms.
	Exemplar func(context.Context) string

	// Shadow makes the limiter admit all work, and only report the work that it would have refused.
	// Use it to try settings in production. The law moves the limit as if the limiter refused, see
	// [Snapshot].WouldRefuse. Events and history report the changes of the limit as usual.
	Shadow bool
}

// Queue configures the queue in which work waits for a slot.
type Queue struct {
	// Size is the number of pieces of work that may wait. It defaults to 0 for [FIFO], and to 1,000
	// for [Adaptive]. In a full queue, work of a higher [Priority] takes the place of work of the
	// lowest priority.
	Size int

	// Timeout is how long work may wait. Defaults to 1 s. With FIFO and a Size of 0 a Timeout is an
	// error, because there is no queue.
	Timeout time.Duration

	// Discipline decides which requests wait and in which order they are served. Defaults to
	// [FIFO].
	Discipline Discipline

	// Tenants, if set, turns on fairness between tenants: see [WithTenant]. It is the number of
	// tenants with running or waiting work that have a share each, up to 1024. Further tenants use
	// the share of the work without a tenant, so choose more than the number of tenants that have
	// work at once. (One pair of tenants in 65,536 has the same hash and counts as one tenant.)
	//
	// The fair share is the limit divided by the tenants that have work in flight or waiting, so
	// that a tenant alone may use the whole limit. Within a priority a free slot goes to the tenant
	// with the least work in flight. A full queue evicts work of the tenant with the most work in
	// flight and waiting. So no tenant within its share is refused for lack of room while a tenant
	// above its share waits at the same priority. Running work is not interrupted.
	//
	// Fairness takes about 200 bytes for each tenant that had work at the same time as the others,
	// and a few nanoseconds for each such tenant whenever work begins or ends a wait. It needs a
	// queue. Defaults to 0: all work belongs to one tenant.
	Tenants int
}

// holds reports whether work may wait in the queue.
func (q Queue) holds() bool { return q.Size > 0 || q.Discipline != FIFO }

// A Discipline is an order of service for a [Queue].
type Discipline uint8

const (
	// FIFO serves work in order of arrival, and work of a higher [Priority] first. Choose a Size
	// for short bursts only: under a lasting overload all work in the queue waits for the full
	// timeout.
	FIFO Discipline = 0

	// Adaptive serves the earliest deadline first. It sheds work that can still start in time only
	// from a standing queue. The target of work is half of the time in which the work can still
	// start, and at most half of Timeout. A queue is standing once its oldest work has been above
	// its target for as long again. Work above its target is then refused, and the newest work is
	// served first. A full queue evicts the oldest work for a newcomer.
	Adaptive Discipline = 1
)

var disciplines = [...]string{FIFO: "fifo", Adaptive: "adaptive"}

// String returns "fifo" or "adaptive".
func (d Discipline) String() string { return wire.Word(disciplines[:], d, "Discipline") }

const (
	maxTenants = 1024
	maxSlots   = settings.MaxSlots
)

var defaultLaw law.Law = law.Setpoint{}

// complete returns the configuration with the defaults filled in, or the error of [New]. It
// does not check the law.
func (c Config) complete() (Config, error) {
	if err := c.checkRanges(); err != nil {
		return c, err
	}
	if err := c.checkCombinations(); err != nil {
		return c, err
	}
	c.Name = cmp.Or(c.Name, "limiter")
	if c.Law == nil {
		c.Law = defaultLaw
	}
	shared := settings.Limiter{
		Start: law.Start(c.Law), Min: c.Min, Max: c.Max, Initial: c.Initial,
		Interval: c.Interval, Window: c.Window, MinSamples: c.MinSamples, QueueTimeout: c.Queue.Timeout,
	}.Complete()
	if f := shared.Check(func(field string) string { return field }); f != nil {
		return c, invalid(f.Field, f.Value, f.Want)
	}
	c.Min, c.Max, c.Initial = shared.Min, shared.Max, shared.Initial
	c.Interval, c.Window, c.MinSamples = shared.Interval, shared.Window, shared.MinSamples
	if c.Queue.holds() {
		c.Queue.Size, c.Queue.Timeout = queue.Order(c.Queue.Discipline).Size(c.Queue.Size), shared.QueueTimeout
	}
	return c, nil
}

// checkRanges checks each field by itself.
func (c Config) checkRanges() error {
	for _, f := range []struct {
		name   string
		value  int
		atMost int
	}{
		{"Min", c.Min, maxSlots},
		{"Max", c.Max, maxSlots},
		{"Initial", c.Initial, maxSlots},
		{"MinSamples", c.MinSamples, maxSlots},
		{"Queue.Size", c.Queue.Size, maxSlots},
		{"Queue.Tenants", c.Queue.Tenants, maxTenants},
	} {
		if f.value < 0 || f.value > f.atMost {
			return invalid(f.name, f.value, fmt.Sprintf("0 (the default) or 1 to %d", f.atMost))
		}
	}
	for _, f := range []struct {
		name  string
		value time.Duration
	}{
		{"Interval", c.Interval},
		{"Window", c.Window},
		{"Queue.Timeout", c.Queue.Timeout},
		{"Timeout", c.Timeout},
	} {
		if f.value < 0 {
			return invalid(f.name, f.value, "0 (the default) or more")
		}
	}
	if c.Queue.Discipline > Adaptive {
		return invalid("Queue.Discipline", c.Queue.Discipline, "FIFO or Adaptive")
	}
	return nil
}

// checkCombinations checks the fields that mean nothing without another one.
func (c Config) checkCombinations() error {
	if c.Exemplar != nil && !c.Histograms {
		return invalid("Exemplar", "set", "nil without Histograms, which keeps exemplars")
	}
	if c.Queue.holds() {
		return nil
	}
	const want = "0 without a queue: set Queue.Size, or Queue.Discipline to Adaptive"
	switch {
	case c.Queue.Tenants > 0:
		return invalid("Queue.Tenants", c.Queue.Tenants, want)
	case c.Queue.Timeout > 0:
		return invalid("Queue.Timeout", c.Queue.Timeout, want)
	}
	return nil
}

func invalid(field string, value any, want string) error {
	return settings.Invalid(ErrConfig, field, value, want)
}
