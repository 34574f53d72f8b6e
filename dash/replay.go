package dash

import (
	"fmt"
	"io"
	"slices"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/recording"
)

// Replay returns a dashboard that shows a recording of weir record instead of [Config].Read, which
// may be nil. It reads the recording to its end and keeps it: a third of a megabyte for each hour
// of a limiter, and at most two million readings. Without [Config].Token, all viewers see the
// tenants and the identifiers of requests that the recording has. An error matches
// [weir.ErrConfig]. An error about the recording names the line.
func Replay(from io.Reader, c Config) (*Handler, error) {
	all, err := recording.Load(from)
	if err != nil {
		return nil, fmt.Errorf("%w: dash: %w", weir.ErrConfig, err)
	}
	hub := newHub(c)
	hub.recorded = all
	return serve(hub)
}

// replay adds a client, which gets the whole recording of a limiter at once.
func (h *hub) replay(v view) *client {
	type span struct {
		From int64 `json:"from"`
		To   int64 `json:"to"`
	}
	from, to := h.recorded.Span()
	overview := h.recorded.Overview()
	overview.Limiters = slices.DeleteFunc(overview.Limiters, func(l recording.Line) bool { return l.Tenant && !v.trusted })
	known := slices.ContainsFunc(overview.Limiters, func(l recording.Line) bool { return l.Name == v.limiter })
	if !known && len(overview.Limiters) > 0 {
		v.limiter = overview.Limiters[0].Name
	}
	first := slices.Concat(event("recording", span{from, to}), event("overview", overview))
	for _, l := range overview.Limiters {
		if v.all || l.Name == v.limiter {
			first = append(first, event("details", h.recorded.Limiters[l.Name])...)
		}
	}
	c := h.add(v)
	c.messages <- append(first, v.requests(h.recorded.Requests)...)
	return c
}
