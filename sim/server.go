package sim

import "time"

// A Server does the work. It is settings; Station starts it.
type Server interface {
	// Station starts the server, empty and at full speed. A setting out of
	// range is an error.
	Station() (Station, error)
}

// A Station is a [Server] at work. Its methods take the time, which never goes back,
// and says when its next job will be done; the simulation calls Finish then. A
// station with the built-in clock is a [Curve]; implement this for one with a
// discipline of its own.
type Station interface {
	// Start gives it a job: so much work on an idle server at full speed.
	Start(now time.Duration, job Job, work time.Duration)
	// Next returns when a job will be done if nothing else happens, [Never]
	// if none will. It must not be before the last time given.
	Next() time.Duration
	// Finish takes out the job that Next was about.
	Finish(now time.Duration) Job
	// Abandon takes out a job that no client waits for any more.
	Abandon(now time.Duration, job Job)
	// Change says under which conditions the server works from now on.
	Change(now time.Duration, c Conditions)
}

// A Job is the number of a piece of work: from 0 up, given anew once its work is out,
// so it may index a slice.
type Job int32

// Conditions are how well a server is.
type Conditions struct {
	Speed   float64 // of all work, 1 for full; 0 stops it
	Workers float64 // the share of workers that is there, 1 for all
}

// well is a server without a fault.
var well = Conditions{Speed: 1, Workers: 1}
