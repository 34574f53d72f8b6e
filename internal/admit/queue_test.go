package admit_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

func TestHigherLimitServes(t *testing.T) {
	s := settings(1, func(s *admit.Settings) { s.QueueTimeout = time.Hour })
	r := newLawRig(t, &recorder{limits: []float64{3}}, s, nil)
	r.done(r.must(1), window.Success)
	r.must(1)
	first, second, third := r.join(), r.join(), r.join()
	want(t, reply.Waiting, first, second, third)
	r.now = time.Second
	now, fx := r.call() // any call closes the window
	r.node.Forbid(reply.Cancelled, now, fx)
	fx.Woken.Wake()
	want(t, reply.Admitted, first, second)
	want(t, reply.Waiting, third)
}
