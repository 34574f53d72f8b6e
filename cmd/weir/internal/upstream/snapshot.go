package upstream

import (
	"slices"
	"time"
)

// An Address is the state of an address.
type Address struct {
	URL          string    `json:"url"`
	InFlight     int64     `json:"in_flight"`              // requests until the body of their response is closed
	Requests     uint64    `json:"requests"`               // sent, or tried
	Failures     uint64    `json:"failures"`               // requests that got no answer, or a 502, 503 or 504
	Healthy      bool      `json:"healthy"`                // according to checks; true without checks
	InRotation   bool      `json:"in_rotation"`            // receives requests
	EjectedUntil time.Time `json:"ejected_until,omitzero"` // zero unless it is ejected
	LastError    string    `json:"last_error,omitempty"`   // of a request or a check
}

// Snapshot returns the state of the addresses, in the order of the configuration.
func (p *Pool) Snapshot() []Address {
	in, now := p.rotation(), time.Now()
	all := make([]Address, len(p.addresses))
	for i, a := range p.addresses {
		a.mu.Lock()
		all[i] = Address{
			URL: a.text, InFlight: a.inFlight.Load(), Requests: a.requests.Load(), Failures: a.failures.Load(),
			Healthy: !p.isChecked() || !a.unhealthy.Load(), InRotation: slices.Contains(in, a), LastError: a.lastError,
		}
		if a.isEjected(now) {
			all[i].EjectedUntil = *a.ejectedUntil.Load()
		}
		a.mu.Unlock()
	}
	return all
}
