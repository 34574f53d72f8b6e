package sim

import "time"

// A Client is a kind of clients.
type Client struct {
	// Name identifies it; a trace's class refers to it.
	Name string `json:"name,omitempty"`

	// Share is the share of requests that it sends, in proportion to the
	// shares of the others. Defaults to 1.
	Share float64 `json:"share,omitempty" range:"[0,1e6]"`

	// SLO is how long it waits. Defaults to the scenario's.
	SLO time.Duration `json:"slo,omitempty" range:"[0s,10000h]"`

	// Weight is how many units of the limit each request takes, and how many jobs of its
	// work it is on the server; it is answered when the last of them is done. Defaults to 1.
	Weight int `json:"weight,omitempty" range:"[0,1e6]"`

	// Slow is how long it takes to read an answer, once the server is done: the slot
	// stays taken, and the server is free.
	Slow time.Duration `json:"slow,omitempty" range:"[0s,1h]"`

	// TimeoutAtSLO reports to the limiter for an answer after the SLO that the work
	// ran out of time, as code does that waits for no longer than that.
	TimeoutAtSLO bool `json:"timeout_at_slo,omitempty"`

	// Priority is its lane in the limiter's queue, 0 being served first.
	Priority int `json:"priority,omitempty" range:"[0,3]"`

	// Untold keeps the deadline from the limiter's queue.
	Untold bool `json:"untold,omitempty"`

	// Deadlines has its requests carry their deadlines, so that the law hears of them.
	Deadlines bool `json:"deadlines,omitempty"`

	// Over is a client that is over a quota of its own: the server refuses all it sends.
	Over bool `json:"over,omitempty"`

	// Cancel ends the work of a request when the client gives up.
	Cancel bool `json:"cancel,omitempty"`

	// Retry is its reaction to refusals, errors and answers that do not
	// come in time.
	Retry Retry `json:"retry,omitzero"`
}

// Retry is how a client tries again. The zero Retry never does.
type Retry struct {
	// Times is how often at most.
	Times int `json:"times" range:"[0,100]"`

	// Backoff is the mean pause before the first, doubled for each one more; the
	// pause is spread evenly from half to one and a half of that.
	Backoff time.Duration `json:"backoff,omitempty" range:"[0s,1h]"`

	// Budget bounds retries to this share of requests, saved up to ten. 0 means
	// no bound.
	Budget float64 `json:"budget,omitempty" range:"[0,1]"`

	// Heed waits for as long as a refusal said, spread evenly from that to
	// twice as much, if that is longer than the backoff.
	Heed bool `json:"heed,omitempty"`
}
