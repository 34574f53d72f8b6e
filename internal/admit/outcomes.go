package admit

import "github.com/weir-go/weir/internal/window"

// outcomes counts the work that did not succeed. Refusals by the downstream and late work are
// counted in the cold part, because few nodes have such work.
type outcomes struct {
	failed, timedOut, ignored uint64
}

func (o *outcomes) count(outcome window.Outcome, now int64, s *slots) {
	switch outcome {
	case window.Success:
		s.answered()
	case window.Late:
		s.contended().coldPart().late++
		s.answered()
	case window.Failure:
		o.failed++
		s.answered()
	case window.Timeout:
		o.timedOut++
	case window.Ignore, window.Abandoned:
		o.ignored++
	case window.Overloaded:
		s.flags.set(pushed, true)
		s.contended().refusedDownstream(now)
	}
}
