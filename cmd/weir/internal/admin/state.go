package admin

import (
	"bytes"
	"encoding/json"

	"github.com/weir-go/weir"
)

// A State is the state of the proxy at one moment. In JSON the fields of Total are at the top
// level, as for the one limiter of a proxy without a configuration file.
type State struct {
	Total weir.Snapshot `json:"-"` // the sum of all compartments
	Parts
}

// Parts are the summands of Total, and further state.
type Parts struct {
	Cap          int                      `json:"cap,omitempty"` // of all compartments together
	Compartments map[string]weir.Snapshot `json:"compartments"`
	Pinned       map[string]int           `json:"pinned,omitempty"` // limits fixed by an operator, by compartment
	Laws         map[string]string        `json:"laws,omitempty"`   // other laws of an operator, likewise
	Caps         map[string]weir.Snapshot `json:"caps"`             // of exempt requests, streams, WebSockets and event streams
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

// MarshalJSON implements [json.Marshaler].
func (s State) MarshalJSON() ([]byte, error) {
	total, err := json.Marshal(s.Total)
	if err != nil {
		return nil, err
	}
	parts, err := json.Marshal(s.Parts)
	if err != nil {
		return nil, err
	}
	return append(append(bytes.TrimSuffix(total, []byte("}")), ','), parts[1:]...), nil
}
