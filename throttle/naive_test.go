package throttle_test

import "time"

// A naive throttle, which sleeps by a PID on a weighted sum, as it was written for a service, but
// given the time: for the tests of its faults, each of which shows its formula fail and ours hold.

// naivePID is its controller.
type naivePID struct {
	Kp, Ki, Kd, setpoint, alpha      float64
	integralMin, integralMax, outMax float64
	integral, filtered               float64
	initialized                      bool
}

func newNaivePID(setpoint float64) *naivePID {
	return &naivePID{Kp: 0.5, Ki: 0.1, Kd: 0.05, setpoint: setpoint, alpha: 0.2, integralMax: 2, integralMin: -0.5, outMax: 1}
}

func (p *naivePID) update(pv, dt float64) float64 {
	if !p.initialized {
		p.initialized = true
		return 0
	}
	err := pv - p.setpoint
	p.integral = min(max(p.integral+err*dt, p.integralMin), p.integralMax)
	filtered := p.alpha*err + (1-p.alpha)*p.filtered
	derivative := (filtered - p.filtered) / dt
	p.filtered = filtered
	return min(max(p.Kp*err+p.Ki*p.integral+p.Kd*derivative, 0), p.outMax)
}

// naiveVariable is its process variable.
func naiveVariable(memory, load float64) float64 { return 0.7*memory + 0.3*load }

// naiveTracker is its average of latencies.
type naiveTracker struct {
	samples []time.Duration
	index   int
	sum     time.Duration
}

func (t *naiveTracker) record(d time.Duration) {
	t.sum += d - t.samples[t.index]
	t.samples[t.index] = d
	t.index = (t.index + 1) % len(t.samples)
}

func (t *naiveTracker) average() time.Duration { return t.sum / time.Duration(len(t.samples)) }

// naiveWriteDelay is the delay that its monitor recommends.
func naiveWriteDelay(load float64) time.Duration {
	if load < 0.5 {
		return 0
	}
	if load < 1 {
		return time.Duration((load-0.5)*200) * time.Millisecond
	}
	return min(100*time.Millisecond*time.Duration(1<<int((load-1)*3)), time.Second)
}

// naiveBatch is its call for each operation: a delay after every tenth of a connection's own.
func naiveBatch(operation, batch int, delay time.Duration) time.Duration {
	if operation%batch != 0 {
		return 0
	}
	return delay
}
