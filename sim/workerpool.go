package sim

import (
	"math"
	"time"
)

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
	s := &pool{workers: p.Workers, open: p.Workers, speed: 1}
	s.run(1)
	return s, nil
}

type pool struct {
	progress
	workers, open int // in total, and the ones that take jobs
	speed         float64

	backlog []waiting // from head on
	head    int
	queued  []int // index of each job in the backlog
}

type waiting struct {
	work time.Duration
	job  Job // noJob if it was abandoned
}

const noJob = Job(-1)

func (s *pool) Start(now time.Duration, job Job, work time.Duration) {
	s.pass(now)
	if len(s.heap) < s.open {
		s.add(job, work)
		s.run(s.speed)
		return
	}
	for int(job) >= len(s.queued) {
		s.queued = append(s.queued, 0)
	}
	s.queued[job] = len(s.backlog)
	s.backlog = append(s.backlog, waiting{work, job})
}

func (s *pool) Next() time.Duration { return s.next }

func (s *pool) Finish(now time.Duration) Job {
	s.pass(now)
	job := s.first()
	s.take()
	return job
}

func (s *pool) Abandon(now time.Duration, job Job) {
	s.pass(now)
	if !s.has(job) {
		s.backlog[s.queued[job]].job = noJob
		return
	}
	s.remove(job)
	s.take()
}

func (s *pool) Change(now time.Duration, c Conditions) {
	s.pass(now)
	s.speed = c.Speed
	s.open = max(1, int(math.Round(mul(float64(s.workers), c.Workers))))
	s.take()
}

// take assigns jobs of the backlog to free workers.
func (s *pool) take() {
	for s.head < len(s.backlog) && len(s.heap) < s.open {
		if w := s.backlog[s.head]; w.job != noJob {
			s.add(w.job, w.work)
		}
		s.head++
	}
	if s.head > len(s.backlog)/2 {
		s.close()
	}
	s.run(s.speed)
}

// close moves the backlog to the front of its memory.
func (s *pool) close() {
	n := copy(s.backlog, s.backlog[s.head:])
	s.backlog, s.head = s.backlog[:n], 0
	for i, w := range s.backlog {
		if w.job != noJob {
			s.queued[w.job] = i
		}
	}
}
