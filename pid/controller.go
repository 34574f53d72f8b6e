package pid

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/weir-go/weir/internal/portable"
	"github.com/weir-go/weir/internal/settings"
)

// A Controller is a running [Config]. Make one with [New]. It is not safe for concurrent use.
type Controller struct {
	conf   Config
	state  Snapshot
	err    float64 // of the last sample, as used by the terms
	slope  float64 // of the filtered measurement
	seeded bool
}

// A Snapshot is the state of a [Controller].
type Snapshot struct {
	P, I, D  float64 // the terms, in units of the output
	Output   float64 // their sum within the limits
	Filtered float64 // the measurement after the derivative's filter
}

// New starts a controller whose output and integral are 0, or the limit nearest to 0 if 0 is
// outside the limits. A setting out of range is an error that matches [ErrConfig].
func New(conf Config) (*Controller, error) {
	conf, err := conf.complete()
	if err != nil {
		return nil, err
	}
	c := &Controller{conf: conf}
	c.Reset(0)
	return c, nil
}

// Update takes a measurement, made dt after the last measurement, and returns the output. A
// measurement that is not finite, or a dt that is not positive, changes nothing.
func (c *Controller) Update(measurement float64, dt time.Duration) float64 {
	if dt <= 0 || !finite(measurement) {
		return c.state.Output
	}
	next, slope := c.state, c.derive(measurement, dt.Seconds())
	next.Filtered = c.state.Filtered + product(slope, dt.Seconds())
	if !c.seeded {
		next.Filtered = measurement
	}
	err := c.error(measurement)
	step := min(dt, c.conf.MaxStep).Seconds()
	next.P = product(c.conf.Kp, err)
	next.I += product(c.conf.Ki*err, step)
	next.D = c.brake(slope)

	sum := next.P + next.I + next.D
	next.Output = c.clamp(sum)
	if next.Output != sum && c.conf.Ki > 0 {
		next.I += product(next.Output-sum, share(step, c.conf.tracking()))
	}
	if !finite(sum) || !finite(next.I) {
		return c.state.Output
	}
	c.state, c.err, c.slope, c.seeded = next, err, slope, true
	return next.Output
}

// derive returns the slope of the filtered measurement.
func (c *Controller) derive(measurement, dt float64) float64 {
	if !c.seeded {
		return 0
	}
	return (measurement - c.state.Filtered) * share(dt, c.conf.Tau.Seconds()) / dt
}

func (c *Controller) error(measurement float64) float64 {
	if c.conf.Reverse {
		return measurement - c.conf.Setpoint
	}
	return c.conf.Setpoint - measurement
}

// brake is the derivative term for a slope of the measurement.
func (c *Controller) brake(slope float64) float64 {
	if c.conf.Reverse {
		return product(c.conf.Kd, slope)
	}
	return product(-c.conf.Kd, slope)
}

// product is rounded before anything is added to it. Some machines would otherwise compute the
// product and the sum in one step, with another result.
func product(a, b float64) float64 { return float64(a * b) }

func (c *Controller) clamp(output float64) float64 {
	return min(max(output, c.conf.Min), c.conf.Max)
}

// Track sets the output, for an actuator that did not follow the controller. It moves the integral,
// so that the controller continues from this output without a bump. An output beyond a limit counts
// as the limit. NaN is ignored.
func (c *Controller) Track(output float64) {
	if math.IsNaN(output) {
		return
	}
	c.state.Output = c.clamp(output)
	c.state.I = c.state.Output - c.state.P - c.state.D
}

// Reset forgets all samples and starts again from an output. NaN means the present output.
func (c *Controller) Reset(output float64) {
	if math.IsNaN(output) {
		output = c.state.Output
	}
	c.state, c.err, c.slope, c.seeded = Snapshot{}, 0, 0, false
	c.Track(output)
}

// Retune takes over new settings. If a setting is out of range, it keeps the old settings and
// returns an error that matches [ErrConfig]. New gains do not move the output: the change of the
// terms goes into the integral. A new setpoint and new limits act from the next update on.
func (c *Controller) Retune(conf Config) error {
	conf, err := conf.complete()
	if err != nil {
		return err
	}
	if conf.Reverse != c.conf.Reverse {
		c.err = -c.err
	}
	before := c.state.P + c.state.I + c.state.D
	c.conf = conf
	c.state.P = product(conf.Kp, c.err)
	c.state.D = c.brake(c.slope)
	c.state.I = before - c.state.P - c.state.D
	if !finite(c.state.I) { // a huge gain: without the last sample, later gains count again
		c.Reset(c.state.Output)
	}
	return nil
}

// Config returns the settings, with every default filled in.
func (c *Controller) Config() Config { return c.conf }

// Snapshot returns the terms and the output of the last update.
func (c *Controller) Snapshot() Snapshot { return c.state }

// ErrConfig matches every error of this package.
var ErrConfig = settings.ErrConfigOf("pid")

// A Config is the settings of a [Controller]. Gains are per unit of the
// measurement. The zero Config is valid: its output is always Min.
type Config struct {
	Kp float64 // proportional gain
	Ki float64 // integral gain, per second
	Kd float64 // derivative gain, in seconds

	// Tau is the time constant of the filter before the derivative. 0 means no filter.
	Tau time.Duration

	// Setpoint is the target of the measurement.
	Setpoint float64

	// Reverse is for a plant whose measurement falls when the output rises,
	// such as load under a delay: the output then rises with the measurement.
	Reverse bool

	// Min and Max are the limits of the output. They default to 0 and 1 if both are 0.
	Min, Max float64

	// MaxStep is the longest time that one update integrates over. Defaults to 1 s.
	MaxStep time.Duration
}

const defaultMaxStep = time.Second

// complete returns the settings with every default filled in.
func (c Config) complete() (Config, error) {
	if err := cmp.Or(
		notNegative("Kp", c.Kp),
		notNegative("Ki", c.Ki),
		notNegative("Kd", c.Kd),
		notNegative("Tau", c.Tau),
		notNegative("MaxStep", c.MaxStep),
	); err != nil {
		return c, err
	}
	for _, level := range [...]struct {
		name  string
		value float64
	}{{"Setpoint", c.Setpoint}, {"Min", c.Min}, {"Max", c.Max}} {
		if !finite(level.value) {
			return c, settings.Invalid(ErrConfig, level.name, level.value, "a finite number")
		}
	}
	if c.Min == 0 && c.Max == 0 {
		c.Max = 1
	}
	if c.Min >= c.Max {
		return c, settings.Invalid(ErrConfig, "Min", c.Min, fmt.Sprintf("less than Max, which is %v", c.Max))
	}
	c.MaxStep = cmp.Or(c.MaxStep, defaultMaxStep)
	return c, nil
}

func notNegative[N settings.Number](field string, value N) error {
	return settings.NotNegative(ErrConfig, field, value, "0 or more")
}

// tracking is the time constant of back-calculation in seconds, if Ki is not 0: the geometric mean
// of integral and derivative time or, without a derivative, the integral time.
func (c *Config) tracking() float64 {
	if c.Kd > 0 {
		return math.Sqrt(c.Kd / c.Ki)
	}
	return c.Kp / c.Ki
}

// share is the share of the way that a first-order lag goes within dt. Without a lag it is 1.
func share(dt, tau float64) float64 {
	if tau <= 0 {
		return 1
	}
	return -portable.Expm1(-dt / tau)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
