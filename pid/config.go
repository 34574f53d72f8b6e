package pid

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/weir-go/weir/internal/portable"
	"github.com/weir-go/weir/internal/settings"
)

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

// share is the share of the way that a first-order lag goes within dt: all of it without a
// lag.
func share(dt, tau float64) float64 {
	if tau <= 0 {
		return 1
	}
	return -portable.Expm1(-dt / tau)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
