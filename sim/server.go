package sim

import "time"

// A Server does the work. It holds settings; Station starts it.
type Server interface {
	// Station starts the server, empty and at full speed. A setting out of
	// range is an error.
	Station() (Station, error)
}

// A Station is a running [Server]. Its methods receive the time, which never goes back. Next
// returns the end of the next job, and the simulation calls Finish at that time. A [Curve] makes a
// station with the built-in clock. Implement Station for a different discipline.
type Station interface {
	// Start starts a job: work is its duration on an idle server at full speed.
	Start(now time.Duration, job Job, work time.Duration)
	// Next returns the end of the next job if nothing else happens, or [Never]. The end must not be
	// before the last time that the station received.
	Next() time.Duration
	// Finish removes the job of Next.
	Finish(now time.Duration) Job
	// Abandon removes a job that no client waits for any more.
	Abandon(now time.Duration, job Job)
	// Change sets the conditions of the server from now on.
	Change(now time.Duration, c Conditions)
}

// A Job is the number of a piece of work. Numbers count from 0 and are reused after their work has
// left, so that they may index a slice.
type Job int32

// Conditions describe the health of a server.
type Conditions struct {
	Speed   float64 // of all work, 1 for full; 0 stops it
	Workers float64 // the share of workers that remain, 1 for all
}
