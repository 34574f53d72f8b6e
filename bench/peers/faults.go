package peers

import (
	"time"

	"github.com/weir-go/weir/sim"
)

// faults follows the phases and their pauses, as in sim.
type faults struct {
	phases []sim.Phase
	phase  int           // -1 before the first
	ends   time.Duration // of the phase
	next   time.Duration // when something changes
	paused bool
}

// advance goes to what holds from now on and reports whether a phase began.
func (f *faults) advance(now time.Duration) (began bool) {
	if f.phase < 0 || now >= f.ends {
		f.phase++
		f.ends = now + f.phases[f.phase].Length
		if f.phase == len(f.phases)-1 {
			f.ends = sim.Never
		}
		f.paused, began = true, true // so that it now toggles to work
	}
	f.paused = !f.paused
	f.next = f.ends
	switch p := f.phases[f.phase].Pause; {
	case p.For == 0:
		f.paused = false
	case f.paused:
		f.next = min(f.ends, now+p.For)
	default:
		f.next = min(f.ends, now+p.Every-p.For)
	}
	return began
}

func (f *faults) conditions() sim.Conditions {
	p := &f.phases[f.phase]
	if f.paused {
		return sim.Conditions{Workers: p.Workers}
	}
	return sim.Conditions{Speed: p.Speed, Workers: p.Workers}
}
