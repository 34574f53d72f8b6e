package sim

import "time"

// A Client is a kind of clients.
type Client struct {
	// Name identifies the kind. The class of a request in a trace refers to it.
	Name string `json:"name,omitempty"`

	// Share is the share of requests that this kind sends, in proportion to the shares of the other
	// kinds. Defaults to 1.
	Share float64 `json:"share,omitempty" range:"[0,1e6]"`

	// SLO is the time that a client waits for an answer, from each attempt. Defaults to the SLO of
	// the scenario.
	SLO time.Duration `json:"slo,omitempty" range:"[0s,10000h]"`

	// Weight is the number of units of the limit that each request takes, and the number of its
	// jobs on the server. A request is answered when the last of its jobs is done. Defaults to 1.
	Weight int `json:"weight,omitempty" range:"[0,1e6]"`

	// Slow is the time that a client needs to read an answer. For that time the slot stays taken,
	// and the server is free.
	Slow time.Duration `json:"slow,omitempty" range:"[0s,1h]"`

	// TimeoutAtSLO reports an answer after the SLO to the limiter as a timeout, as code does that
	// waits no longer than the SLO.
	TimeoutAtSLO bool `json:"timeout_at_slo,omitempty"`

	// Priority is the lane of the requests in the limiter's queue, which serves lane 0 first.
	Priority int `json:"priority,omitempty" range:"[0,3]"`

	// Untold keeps the deadline from the limiter's queue.
	Untold bool `json:"untold,omitempty"`

	// Deadlines attaches deadlines to its requests, so that the law receives them.
	Deadlines bool `json:"deadlines,omitempty"`

	// Leaves means that the client leaves at its SLO. The work continues. The limiter learns of the
	// departure when the work ends, as in a proxy whose upstream does not know that the client has
	// left.
	Leaves bool `json:"leaves,omitempty"`

	// Over means that the client exceeds a quota of its own: the server refuses all of
	// its requests.
	Over bool `json:"over,omitempty"`

	// Cancel ends the work of a request when the client gives up.
	Cancel bool `json:"cancel,omitempty"`

	// Retry configures retries of refusals, errors and late answers.
	Retry Retry `json:"retry,omitzero"`
}

// Retry configures how a client retries. The zero Retry never retries.
type Retry struct {
	// Times is the maximum number of retries.
	Times int `json:"times" range:"[0,100]"`

	// Backoff is the mean pause before the first retry, and the mean doubles for each further
	// retry. The pause is uniform from half to one and a half of the mean.
	Backoff time.Duration `json:"backoff,omitempty" range:"[0s,1h]"`

	// Budget bounds retries to this share of requests. A kind of clients saves up to ten retries. 0
	// means no bound.
	Budget float64 `json:"budget,omitempty" range:"[0,1]"`

	// Heed waits for the Retry-After of a refusal if that is longer than the backoff. The pause is
	// uniform from the Retry-After to twice as long.
	Heed bool `json:"heed,omitempty"`
}
