package sim

import (
	"math"
	"time"
)

// A station runs up to a number of jobs at once, all at the same speed, and the others wait in
// order of arrival.
type station struct {
	progress

	most, open int   // jobs at once, with all workers and now
	speed      Curve // of each of n jobs
	conditions Conditions

	backlog []waiting // from head on
	head    int
	queued  []int // index of each job in the backlog
}

type waiting struct {
	work time.Duration
	job  Job // noJob if it was abandoned
}

const (
	noJob     = Job(-1)
	unbounded = math.MaxInt32 // jobs at once
)

func newStation(most int, speed Curve) *station {
	s := &station{most: most, open: most, speed: speed, conditions: Conditions{Speed: 1, Workers: 1}}
	s.moved = func(e ending, place int) { s.places[e.job] = int32(place) }
	s.settle()
	return s
}

func (s *station) Start(now time.Duration, job Job, work time.Duration) {
	s.pass(now)
	if len(s.items) < s.open {
		s.add(job, work)
		s.settle()
		return
	}
	for int(job) >= len(s.queued) {
		s.queued = append(s.queued, 0)
	}
	s.queued[job] = len(s.backlog)
	s.backlog = append(s.backlog, waiting{work, job})
}

func (s *station) Next() time.Duration { return s.next }

func (s *station) Finish(now time.Duration) Job {
	s.pass(now)
	job := s.first()
	s.settle()
	return job
}

func (s *station) Abandon(now time.Duration, job Job) {
	s.pass(now)
	if !s.has(job) {
		s.backlog[s.queued[job]].job = noJob
		return
	}
	s.end(job)
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

// settle starts waiting jobs as far as there is room, and sets the rate for the number of
// running ones.
func (s *station) settle() {
	for s.head < len(s.backlog) && len(s.items) < s.open {
		if w := s.backlog[s.head]; w.job != noJob {
			s.add(w.job, w.work)
		}
		s.head++
	}
	if s.head > len(s.backlog)/2 {
		s.compact()
	}
	n := float64(max(1, len(s.items))) / s.conditions.Workers
	s.run(mul(s.conditions.Speed, s.speed(n)))
}

// compact moves the backlog to the front of its memory.
func (s *station) compact() {
	n := copy(s.backlog, s.backlog[s.head:])
	s.backlog, s.head = s.backlog[:n], 0
	for i, w := range s.backlog {
		if w.job != noJob {
			s.queued[w.job] = i
		}
	}
}

// A WorkerPool is a number of workers that take jobs in order of arrival, one each, from an
// unbounded backlog. When workers are lost, each of them first completes its job.
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
