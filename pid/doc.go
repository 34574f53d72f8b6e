// Package pid is a PID controller: it moves an output so that a measurement
// comes to a setpoint and stays there.
//
// It reads no clock, takes no lock and does not know the plant: the caller passes the
// measurement and the elapsed time, and applies the output.
//
//	c, err := pid.New(pid.Config{Kp: 0.5, Ki: 0.2, Setpoint: 0.85, Max: 10})
//	output := c.Update(measurement, elapsed)
//
// # Mathematics
//
// With the measurement y, the setpoint r and the error e = r - y (y - r if the controller is
// reversed), the output is the sum of three terms, held within its limits:
//
//	P = Kp e                     the present error
//	I = integral of Ki e dt      the past error
//	D = -Kd d(filtered y)/dt     its direction
//
// P alone stops short of the setpoint as soon as a steady output is needed; I
// supplies that output and leaves no error; D brakes.
//
// Filter. A derivative amplifies noise, so D uses y behind a first-order filter with the time
// constant Tau. Over a step dt the filter moves by the share 1 - exp(-dt/Tau) of the way, which is
// exact for a measurement that is constant over the step. So the number of calls does not change
// the filter. The first sample seeds the filter. P and I see y itself, because the lag of a filter
// costs them stability.
//
// Derivative on the measurement. A step of the setpoint would make the derivative of e a
// spike; the derivative of y is unaffected.
//
// Anti-windup. While the output is at a limit, more integral changes nothing now and delays
// the way back later. With v the sum of the terms and u the output, the integral also follows
//
//	dI = (u - v) (1 - exp(-dt/T)),  T = sqrt(Kd/Ki), or Kp/Ki without a derivative
//
// which is back-calculation: the integral moves back, in units of the output, to the point
// where the output just reaches the limit. The alternative, clamping the integral alone,
// needs the bound in units of the output, and would cap I in ordinary work.
//
// Retuning. I is stored in units of the output, as Ki times the integral and not as the
// integral, so a change of Ki does not multiply the past. The change of P and D at the
// present error is moved into I: the output stays.
//
// # When it fails
//
//   - Too much gain or too much delay between output and measurement: the output oscillates. Lower
//     Kp and Ki together.
//   - The measurement stops responding: I goes to a limit and stays there. Bound
//     the output, and call Track when something else sets it.
//   - The sign of the plant is not as Reverse says: the output runs to the wrong limit.
//   - A noisy measurement with a large Kd/Tau: the output is noise.
//   - A plant whose gain varies by orders of magnitude: use the logarithms of the measurement and
//     of the output, as [github.com/weir-go/weir/law.PID] does.
//
// Values that are not finite are rejected and a step of no time is ignored: the output is held and
// the state stays as it was. A step longer than MaxStep integrates as a step of MaxStep.
//
// # Sources
//
//   - K. J. Åström, T. Hägglund: PID Controllers: Theory, Design, and Tuning,
//     2nd edition, ISA 1995: filter, back-calculation, bumpless transfer.
//   - K. J. Åström, R. M. Murray: Feedback Systems, Princeton 2008, chapter 10.
package pid
