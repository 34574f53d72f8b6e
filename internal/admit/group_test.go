package admit_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// newGroup returns nodes with a limit of 5 each under a common cap.
func newGroup(t *testing.T, limit, nodes int) (*admit.Group, []*rig) {
	t.Helper()
	group := admit.NewGroup(limit)
	rigs := make([]*rig, nodes)
	for i := range rigs {
		rigs[i] = newLawRig(t, law.Fixed{}, settings(5, nil), group)
	}
	return group, rigs
}

// A call of another node answers the last waiter of a draining node.
func TestGroupEndsTheDrainOfAnyNode(t *testing.T) {
	_, n := newGroup(t, 1, 2)
	ticket := n[0].must(1)
	q := n[1].join()
	drained := n[1].drain()
	n[0].now = time.Second
	n[0].done(ticket, window.Success)
	want(t, reply.QueueTimeout, q)
	select {
	case <-drained:
	default:
		t.Error("empty, but not drained")
	}
}

// The times of calls of different nodes may be out of order.
func TestGroupNeverTurnsBackTime(t *testing.T) {
	_, n := newGroup(t, 1, 2)
	ticket := n[0].must(1)
	n[1].now = 100 * ms
	q := n[1].join()
	n[0].now = 90 * ms
	n[0].done(ticket, window.Success)
	if waited := q.Queued; waited != 0 {
		t.Errorf("it waited %v", time.Duration(waited))
	}
}

// The first waiter takes the last slot of its node, and the next one has waited too long.
func TestGroupAnswersWhoHasExpired(t *testing.T) {
	group := admit.NewGroup(1)
	other := newLawRig(t, law.Fixed{}, settings(5, nil), group)
	n := newLawRig(t, law.Fixed{}, settings(1, nil), group)
	ticket := other.must(1)
	first, next := n.join(), n.join(due(100*ms))
	other.now = 200 * ms
	other.done(ticket, window.Success)
	want(t, reply.Admitted, first)
	want(t, reply.Deadline, next)
}
