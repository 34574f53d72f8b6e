// Package pipe carries a [fleet.Store] between two processes: one process serves its store, and the
// other process uses that store. So cmd/weir-fleet has the clients of NATS and PostgreSQL, and weir
// needs neither.
//
// # Frames
//
// A frame is a JSON object on a line. The user sends each write and watch under a number of its
// own. It sends a stop when it no longer waits for the answer. The server answers a watch with
// entries. It ends each write and watch once, with the error if there is one. The end of either
// pipe ends both sides.
package pipe

import "github.com/weir-go/weir/fleet"

// A frame of the user has Write, Watch or Stop; a frame of the server has Entry or End.
type frame struct {
	Call  uint64       `json:"call"`
	Write *fleet.Write `json:"write,omitempty"`
	Watch *string      `json:"watch,omitempty"` // the key
	Stop  bool         `json:"stop,omitempty"`
	Entry *fleet.Entry `json:"entry,omitempty"`
	End   bool         `json:"end,omitempty"`
	Err   string       `json:"err,omitempty"` // of the call that ends
}
