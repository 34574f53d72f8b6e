package sim

import "time"

// A Client is a kind of clients.
type Client struct {
	// Name identifies it; a trace's class refers to it.
	Name string `json:"name,omitempty"`

	// Share is the share of requests that it sends, in proportion to the
	// shares of the others. Defaults to 1.
	Share float64 `json:"share,omitempty" range:"[0,1e6]"`

	// SLO is the time that it waits. Defaults to the scenario's.
	SLO time.Duration `json:"slo,omitempty" range:"[0s,10000h]"`

	// Weight is the number of units of the limit that each request takes, and the number
	// of its jobs on the server; it is answered when the last of them is done. Defaults
	// to 1.
	Weight int `json:"weight,omitempty" range:"[0,1e6]"`

	// Slow is the time to read an answer after the server is done: the slot stays taken,
	// and the server is free.
	Slow time.Duration `json:"slow,omitempty" range:"[0s,1h]"`

	// TimeoutAtSLO reports an answer after the SLO to the limiter as a timeout, as code
	// does that waits no longer than that.
	TimeoutAtSLO bool `json:"timeout_at_slo,omitempty"`

	// Priority is its lane in the limiter's queue, 0 being served first.
	Priority int `json:"priority,omitempty" range:"[0,3]"`

	// Untold keeps the deadline from the limiter's queue.
	Untold bool `json:"untold,omitempty"`

	// Deadlines attaches deadlines to its requests, so that the law receives them.
	Deadlines bool `json:"deadlines,omitempty"`

	// Leaves means that it leaves at its SLO. The work continues, and the limiter learns of the
	// departure when it ends, as in a proxy whose upstream knows nothing of it.
	Leaves bool `json:"leaves,omitempty"`

	// Over means that the client exceeds a quota of its own: the server refuses all of
	// its requests.
	Over bool `json:"over,omitempty"`

	// Cancel ends the work of a request when the client gives up.
	Cancel bool `json:"cancel,omitempty"`

	// Retry configures retries of refusals, errors and late answers.
	Retry Retry `json:"retry,omitzero"`
}

// Retry configures how a client retries. The zero Retry never does.
type Retry struct {
	// Times is the maximum number of retries.
	Times int `json:"times" range:"[0,100]"`

	// Backoff is the mean pause before the first retry, doubled for each further one;
	// the pause is uniform from half to one and a half of that.
	Backoff time.Duration `json:"backoff,omitempty" range:"[0s,1h]"`

	// Budget bounds retries to this share of requests, saved up to ten. 0 means no
	// bound.
	Budget float64 `json:"budget,omitempty" range:"[0,1]"`

	// Heed waits for the Retry-After of a refusal, uniform from that to twice as much,
	// if that is longer than the backoff.
	Heed bool `json:"heed,omitempty"`
}
