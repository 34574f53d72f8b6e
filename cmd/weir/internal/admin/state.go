package admin

import "github.com/weir-go/weir"

// A State is the state of the proxy at one moment.
type State struct {
	Total        weir.Snapshot            `json:"total"`         // the sum of all compartments
	Cap          int                      `json:"cap,omitempty"` // of all compartments together
	Compartments map[string]weir.Snapshot `json:"compartments"`
	Laws         map[string]string        `json:"laws,omitempty"` // that operators set, by compartment
	Caps         map[string]weir.Snapshot `json:"caps"`           // of exempt requests, streams, WebSockets and event streams
	Figures
	LastReload string `json:"last_reload_error,omitempty"`
}

// A Fleet is the proxy's membership in a fleet.
type Fleet struct {
	Name      string `json:"name"`
	Cap       int    `json:"cap"`
	Member    string `json:"member"` // the ID of this proxy
	Members   int    `json:"members"`
	Share     int    `json:"share"`
	Leased    bool   `json:"leased"`
	Allocator string `json:"allocator"` // the ID of the member that divides the cap
	Allocates bool   `json:"allocates"`
	Epoch     uint64 `json:"epoch"`
	Error     string `json:"error,omitempty"` // of the store
}
