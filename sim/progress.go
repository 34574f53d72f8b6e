package sim

import (
	"math"
	"time"
)

// progress is the running jobs at one common rate: the clock of the package documentation
// and a heap of the readings at which they end.
type progress struct {
	at    time.Duration // the time of the reading
	clock float64       // nanoseconds of work that each job was given
	rate  float64       // of the clock
	next  time.Duration // the time at which the first job ends

	heap[ending]
	places []int32 // of each job in the heap
}

type ending struct {
	clock float64
	job   Job
}

func (e ending) before(o ending) bool { return e.clock < o.clock }

// pass advances the clock.
func (p *progress) pass(now time.Duration) {
	p.clock += mul(float64(now-p.at), p.rate)
	p.at = now
}

// run changes the rate and returns the time at which the first job then ends.
func (p *progress) run(rate float64) {
	p.rate = rate
	if len(p.items) == 0 {
		p.clock = 0 // the longer a clock runs the coarser it is
		p.next = Never
		return
	}
	left := max(0, p.items[0].clock-p.clock)
	if wait := math.Ceil(left / rate); wait < float64(Never-p.at) { // false if the rate is 0 as well
		p.next = p.at + time.Duration(wait)
		return
	}
	p.next = Never
}

func (p *progress) add(job Job, work time.Duration) {
	for int(job) >= len(p.places) {
		p.places = append(p.places, -1)
	}
	p.push(ending{p.clock + float64(work), job})
}

// first removes the job that ends first. Its end was rounded up to a nanosecond, so the
// clock has reached it.
func (p *progress) first() Job {
	job := p.items[0].job
	p.end(job)
	return job
}

// has reports whether the job is running.
func (p *progress) has(job Job) bool { return int(job) < len(p.places) && p.places[job] >= 0 }

// end removes a job.
func (p *progress) end(job Job) {
	p.remove(int(p.places[job]))
	p.places[job] = -1
}
