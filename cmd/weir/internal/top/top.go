// Package top shows a dashboard on a terminal.
package top

import (
	"slices"

	"github.com/weir-go/weir/internal/recording"
)

const (
	mostPoints  = 1000 // more than a terminal has columns
	mostChanges = 100
)

// A Screen is the state of a dashboard as far as a terminal shows it. Make one with its title.
type Screen struct {
	Title string // where it comes from
	State string // of the connection

	limiters []recording.Line
	more     int
	shown    recording.Details
}

// Take adds a message. Its details are of the limiter that is shown.
func (s *Screen) Take(m recording.Message) {
	if o := m.Overview; o != nil {
		s.limiters, s.more = o.Limiters, o.More
		return
	}
	d := m.Details
	if d.Whole || d.Name != s.shown.Name {
		s.shown.Points, s.shown.Changes = nil, nil
	}
	s.shown.Name, s.shown.Refusals, s.shown.Decision = d.Name, d.Refusals, d.Decision
	s.shown.Points = newest(append(s.shown.Points, d.Points...), mostPoints)
	s.shown.Changes = newest(append(s.shown.Changes, d.Changes...), mostChanges)
}

// newest drops the oldest elements beyond a number.
func newest[T any](all []T, most int) []T {
	return slices.Delete(all, 0, max(len(all)-most, 0))
}
