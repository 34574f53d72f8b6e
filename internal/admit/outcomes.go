package admit

import "github.com/weir-go/weir/internal/window"

// outcomes counts the work that did not succeed.
type outcomes struct {
	failed, timedOut, ignored uint64
}

func (o *outcomes) count(outcome window.Outcome) {
	switch outcome {
	case window.Failure:
		o.failed++
	case window.Timeout:
		o.timedOut++
	case window.Ignore:
		o.ignored++
	}
}
