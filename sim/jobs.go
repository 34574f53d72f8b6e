package sim

import "time"

// A request of weight w runs as w jobs on the server. Each job has its own slot, because the number
// of a slot is the number of a job. A list links the jobs of a request.

// jobs links an attempt into that list. Slots count from 1 here; 0 is no slot.
type jobs struct {
	whole  int32 // the attempt that a job is a part of
	next   int32 // the next job of the attempt or, in the attempt, its first job
	undone int32 // jobs of the attempt that still run
}

func (e *engine) weight(a *attempt) int { return e.scenario.Clients[a.client].Weight }

// start gives the jobs of an attempt to the server.
func (e *engine) start(slot int32, work time.Duration) {
	weight := e.weight(&e.attempts[slot])
	if weight == 1 {
		e.station.Start(e.now, Job(slot), work)
		return
	}
	e.attempts[slot].jobs.undone = int32(weight)
	for range weight {
		part := e.slot(attempt{stage: runs, jobs: jobs{whole: slot + 1, next: e.attempts[slot].jobs.next}})
		e.attempts[slot].jobs.next = part + 1
		e.station.Start(e.now, Job(part), work)
	}
}

// finished returns the attempt of a completed job, and whether all of its jobs are complete.
func (e *engine) finished(job int32) (slot int32, all bool) {
	whole := e.attempts[job].jobs.whole
	if whole == 0 {
		return job, true
	}
	slot = whole - 1
	e.attempts[job].stage = answering
	e.attempts[slot].jobs.undone--
	if e.attempts[slot].jobs.undone > 0 {
		return slot, false
	}
	e.part(slot)
	return slot, true
}

// part releases the jobs of an attempt.
func (e *engine) part(slot int32) {
	for next := e.attempts[slot].jobs.next; next > 0; {
		job := next - 1
		next = e.attempts[job].jobs.next
		e.release(job)
	}
	e.attempts[slot].jobs = jobs{}
}

// abandon takes the jobs of an attempt from the server.
func (e *engine) abandon(slot int32) {
	e.door.serving -= e.scenario.Clients[e.attempts[slot].client].Weight
	if e.attempts[slot].jobs.undone == 0 {
		e.station.Abandon(e.now, Job(slot))
		return
	}
	for next := e.attempts[slot].jobs.next; next > 0; next = e.attempts[next-1].jobs.next {
		if e.attempts[next-1].stage == runs {
			e.station.Abandon(e.now, Job(next-1))
		}
	}
	e.part(slot)
}

// kill makes all work on the server fail.
func (e *engine) kill() {
	for slot := range int32(len(e.attempts)) {
		if a := &e.attempts[slot]; a.stage == runs && a.jobs.whole == 0 {
			a.failed = true
			e.abandon(slot)
			e.answered(slot)
		}
	}
}
