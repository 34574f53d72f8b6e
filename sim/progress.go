package sim

import (
	"math"
	"time"
)

// progress is the running jobs at one common rate: the clock of the package documentation
// and a 4-ary heap of the readings at which they end.
type progress struct {
	at    time.Duration // the time of the reading
	clock float64       // nanoseconds of work that each job was given
	rate  float64       // of the clock
	next  time.Duration // the time at which the first job ends

	heap   []ending
	places []int32 // of each job in the heap
}

type ending struct {
	clock float64
	job   Job
}

// pass advances the clock.
func (p *progress) pass(now time.Duration) {
	p.clock += mul(float64(now-p.at), p.rate)
	p.at = now
}

// run changes the rate and returns the time at which the first job then ends.
func (p *progress) run(rate float64) {
	p.rate = rate
	if len(p.heap) == 0 {
		p.clock = 0 // the longer a clock runs the coarser it is
		p.next = Never
		return
	}
	left := max(0, p.heap[0].clock-p.clock)
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
	p.heap = append(p.heap, ending{})
	p.up(len(p.heap)-1, ending{p.clock + float64(work), job})
}

// first removes the job that ends first. Its end was rounded up to a nanosecond, so the
// clock has reached it.
func (p *progress) first() Job {
	job := p.heap[0].job
	p.remove(job)
	return job
}

// has reports whether the job is running.
func (p *progress) has(job Job) bool { return int(job) < len(p.places) && p.places[job] >= 0 }

func (p *progress) remove(job Job) {
	i, last := int(p.places[job]), len(p.heap)-1
	p.places[job] = -1
	moved := p.heap[last]
	p.heap = p.heap[:last]
	if i == last {
		return
	}
	if i > 0 && moved.clock < p.heap[(i-1)/4].clock {
		p.up(i, moved)
		return
	}
	p.down(i, moved)
}

func (p *progress) put(i int, e ending) {
	p.heap[i] = e
	p.places[e.job] = int32(i)
}

func (p *progress) up(i int, e ending) {
	for i > 0 {
		parent := (i - 1) / 4
		if p.heap[parent].clock <= e.clock {
			break
		}
		p.put(i, p.heap[parent])
		i = parent
	}
	p.put(i, e)
}

func (p *progress) down(i int, e ending) {
	for {
		least := 4*i + 1
		if least >= len(p.heap) {
			break
		}
		for child := least + 1; child < min(4*i+5, len(p.heap)); child++ {
			if p.heap[child].clock < p.heap[least].clock {
				least = child
			}
		}
		if p.heap[least].clock >= e.clock {
			break
		}
		p.put(i, p.heap[least])
		i = least
	}
	p.put(i, e)
}
