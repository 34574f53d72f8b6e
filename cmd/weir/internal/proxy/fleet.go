package proxy

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/admin"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/fleet"
)

// A membership keeps all compartments together within the proxy's share of a fleet's cap.
type membership struct {
	*fleet.Member
	name   string
	cap    int
	served atomic.Bool // it has had a share
}

// join makes the proxy a member of its fleet. The proxy has no share before its first lease.
func (p *Proxy) join(c *config.Fleet, store fleet.Store) error {
	settings := c.Join()
	settings.Store, settings.Actuator = store, fleet.Set(p.set)
	settings.OnError = func(err error) {
		p.log.Warn("the fleet has a fault: while its store does not answer, the share stays until its lease ends, and then fleet.fallback holds", "error", err)
	}
	member, err := fleet.Join(settings)
	if err != nil {
		return err
	}
	p.fleet = &membership{Member: member, name: c.Name, cap: c.Cap}
	p.log.Info("waiting for a share of the fleet's cap", "fleet", c.Name, "cap", c.Cap, "member", member.Snapshot().ID)
	return nil
}

// ready returns an error until the proxy has had a share, because requests would be refused. A
// proxy that loses its share later sheds load, and stays ready. The error names no cause, because
// strangers can reach the probes.
func (m *membership) ready() error {
	if m == nil || m.served.Load() {
		return nil
	}
	if s := m.Snapshot(); s.Leased || s.Share > 0 {
		m.served.Store(true)
		return nil
	}
	return errNoShare
}

var errNoShare = errors.New("waiting for a share of the fleet's cap: the log and /-/weir/snapshot have the cause")

// leaveTimeout is how long the store may take to record that the proxy leaves.
const leaveTimeout = 2 * time.Second

// leave gives the share back, so that the other members need not wait for the end of its lease.
func (m *membership) leave() error {
	if m == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	if err := m.Leave(ctx); err != nil {
		return fmt.Errorf("the others do not know yet that this proxy left fleet %s: %w", m.name, err)
	}
	return nil
}

// figures returns the state of the membership, or nil without a fleet.
func (m *membership) figures() *admin.Fleet {
	if m == nil {
		return nil
	}
	s := m.Snapshot()
	return &admin.Fleet{
		Name: m.name, Cap: m.cap, Member: s.ID, Members: s.Members, Share: s.Share, Leased: s.Leased,
		Allocator: s.Leader, Allocates: s.Leads, Epoch: s.Epoch, Error: s.Err,
	}
}
