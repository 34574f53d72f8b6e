package sim

import (
	"math"
	"time"
)

// A station runs up to a number of jobs at once, all at the same speed. The other jobs wait in
// order of arrival. It has the clock of the package documentation, and a heap of the readings at
// which the running jobs end.
type station struct {
	most, open int   // jobs at once, with all workers and now
	speed      Curve // of each of n jobs
	conditions Conditions

	at    time.Duration // the time of the reading
	clock float64       // nanoseconds of work that each job was given
	rate  float64       // of the clock
	next  time.Duration // the time at which the first job ends

	heap[ending]
	backlog []waiting // from head on
	head    int
	jobs    []whereabouts
}

type ending struct {
	clock float64
	job   Job
}

func (e ending) before(o ending) bool { return e.clock < o.clock }

type waiting struct {
	work time.Duration
	job  Job // noJob after the job was abandoned
}

// whereabouts has the place of a job in the heap, which is -1 if the job does not run, and its
// place in the backlog.
type whereabouts struct{ running, waiting int }

const (
	noJob     = Job(-1)
	unbounded = math.MaxInt32 // jobs at once
)

func newStation(most int, speed Curve) *station {
	s := &station{most: most, open: most, speed: speed, conditions: Conditions{Speed: 1, Workers: 1}}
	s.moved = func(e ending, place int) { s.jobs[e.job].running = place }
	s.settle()
	return s
}

func (s *station) Start(now time.Duration, job Job, work time.Duration) {
	s.pass(now)
	for int(job) >= len(s.jobs) {
		s.jobs = append(s.jobs, whereabouts{running: -1})
	}
	if len(s.items) < s.open {
		s.push(ending{s.clock + float64(work), job})
		s.settle()
		return
	}
	s.jobs[job].waiting = len(s.backlog)
	s.backlog = append(s.backlog, waiting{work, job})
}

func (s *station) Next() time.Duration { return s.next }

// Finish removes the first job. The end of the job was rounded up to a nanosecond, so the clock has
// reached it.
func (s *station) Finish(now time.Duration) Job {
	job := s.items[0].job
	s.Abandon(now, job)
	return job
}

func (s *station) Abandon(now time.Duration, job Job) {
	s.pass(now)
	place := &s.jobs[job]
	if place.running < 0 {
		s.backlog[place.waiting].job = noJob
		return
	}
	s.remove(place.running)
	place.running = -1
	s.settle()
}

func (s *station) Change(now time.Duration, c Conditions) {
	s.pass(now)
	s.conditions = c
	if s.most < unbounded {
		s.open = max(1, int(math.Round(mul(float64(s.most), c.Workers))))
	}
	s.settle()
}

// pass advances the clock by the work that each job was given since the last call.
func (s *station) pass(now time.Duration) {
	s.clock += mul(float64(now-s.at), s.rate)
	s.at = now
}

// settle starts waiting jobs while workers are free. It sets the rate for the number of running
// jobs, and the time at which the first of them ends.
func (s *station) settle() {
	for s.head < len(s.backlog) && len(s.items) < s.open {
		if w := s.backlog[s.head]; w.job != noJob {
			s.push(ending{s.clock + float64(w.work), w.job})
		}
		s.head++
	}
	if s.head > len(s.backlog)/2 {
		s.compact()
	}
	n := float64(max(1, len(s.items))) / s.conditions.Workers
	s.rate, s.next = mul(s.conditions.Speed, s.speed(n)), Never
	if len(s.items) == 0 {
		s.clock = 0 // the longer a clock runs the coarser it is
		return
	}
	left := max(0, s.items[0].clock-s.clock)
	if wait := math.Ceil(left / s.rate); wait < float64(Never-s.at) { // false if the rate is 0 as well
		s.next = s.at + time.Duration(wait)
	}
}

// compact moves the backlog to the front of its memory.
func (s *station) compact() {
	n := copy(s.backlog, s.backlog[s.head:])
	s.backlog, s.head = s.backlog[:n], 0
	for i, w := range s.backlog {
		if w.job != noJob {
			s.jobs[w.job].waiting = i
		}
	}
}

// A WorkerPool is a server whose workers take jobs in order of arrival, one job each, from an
// unbounded backlog. A worker that is lost first completes its job.
type WorkerPool struct {
	// Workers is the number of workers.
	Workers int `json:"workers" range:"[1,1e6]"`
}

// Station implements [Server].
func (p WorkerPool) Station() (Station, error) {
	if err := check("server.pool", p); err != nil {
		return nil, err
	}
	return newStation(p.Workers, func(float64) float64 { return 1 }), nil
}
