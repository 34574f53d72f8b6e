package pool

import "time"

// A backoff is how a board treats [Config].Gate. Once the gate has refused, as many tasks are tried
// as end, and when a rest is over one more, and another for each that gets through. Each refusal
// after a rest doubles the next. It is part of the board.
type backoff struct {
	careful bool          // it has refused
	probing bool          // nothing was refused since the rest was over
	room    int           // how many may be tried
	again   time.Duration // when the rest is over
	rest    time.Duration
}

// The rest is short beside the duration of a task that is worth a gate, and at its longest the
// time a person takes for a stall.
const (
	shortRest = 5 * time.Millisecond
	longRest  = time.Second
)

// open reports whether a task may be tried.
func (b *backoff) open(now time.Duration) bool {
	if !b.careful || b.room > 0 {
		return true
	}
	if b.probing || now < b.again {
		return false
	}
	b.probing, b.room = true, 1
	return true
}

func (b *backoff) enter() {
	if b.careful {
		b.room--
	}
}

// passed is called when the gate has let a task through, and reports whether another may be tried.
func (b *backoff) passed() bool {
	if b.probing {
		b.room++
		b.rest = 0
	}
	return b.probing
}

// left is called when a task that the gate had let through ended.
func (b *backoff) left() {
	if b.careful {
		b.room++
	}
}

// refuse is called when the gate refused, and returns how long it will rest.
func (b *backoff) refuse(now time.Duration) time.Duration {
	if !b.careful || b.probing {
		b.rest = min(max(shortRest, 2*b.rest), longRest)
		b.again = now + b.rest
	}
	b.careful, b.probing, b.room = true, false, 0
	return max(0, b.again-now)
}

// rests returns for how long to leave it alone, 0 if there is no need to.
func (b *backoff) rests(now time.Duration) time.Duration {
	if !b.careful || b.probing {
		return 0
	}
	return max(0, b.again-now)
}
