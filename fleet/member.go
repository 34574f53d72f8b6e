package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/weir-go/weir/internal/lease"
	"github.com/weir-go/weir/internal/wire"
)

// A Member keeps the work of one process within its share of the cap. Make one with [Join]. All
// methods are safe for concurrent use.
type Member struct {
	conf  Config
	clock clock
	node  *lease.Node // of the goroutine run

	seen chan sight
	out  outbox
	stop context.CancelFunc
	done chan struct{}
	rest sync.WaitGroup

	mu       sync.Mutex
	snapshot Snapshot

	reporting sync.Mutex
}

// A Snapshot is the state of a member.
type Snapshot struct {
	ID     string // of the member
	Share  int    // of the cap; 1,000,000,000 without a bound, see [Local]
	Leased bool   // false before the first lease, and after its end
	Leader string // ID of the member that allocates, as far as this one knows
	Epoch  uint64 // of its term
	Leads  bool   // this member allocates
	Err    string // of the store, empty while it works
}

// A sight is an entry that a watch saw, or its end.
type sight struct {
	entry  lease.Entry
	synced bool // all entries that there were have been read
	leader bool // of the watch of the leader
	all    bool // of the watch of all keys
}

// Join makes this process a member of a fleet, and bounds its work by [Config].Start before it
// returns. It needs no answer of the store: until there is one the member keeps that share. An
// error matches [weir.ErrConfig] and names the setting.
//
// A member has a goroutine for itself, one for its writes and one for each of up to three watches
// of the store. [Member.Leave] ends them.
func Join(c Config) (*Member, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	m := &Member{
		conf: c, clock: newClock(), seen: make(chan sight), out: newOutbox(), stop: stop, done: make(chan struct{}),
	}
	m.node = lease.NewNode(c.lease(), m.clock.now())
	m.snapshot = Snapshot{ID: c.ID, Share: m.node.Share()}
	if err := c.Actuator.SetShare(m.snapshot.Share); err != nil {
		stop()
		return nil, err
	}
	m.rest.Go(func() { m.watch(ctx, lease.LeaderKey, sight{leader: true}) })
	m.rest.Go(func() { m.watch(ctx, lease.GrantPrefix+c.ID, sight{}) })
	m.rest.Go(func() { m.write(ctx) })
	go m.run(ctx)
	return m, nil
}

// Snapshot returns the member's state now.
func (m *Member) Snapshot() Snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.snapshot
}

// String returns the snapshot as JSON, which makes a Member an expvar.Var.
func (m *Member) String() string { return wire.String(m.Snapshot()) }

// Leave gives the share back: nothing starts any more. Call it once the work has ended, as after
// [weir.Limiter.Shutdown]; work that still runs keeps its slots until [Config].Grace is over. Leave
// tells the others so until ctx ends, and returns the error of the store.
func (m *Member) Leave(ctx context.Context) error {
	m.stop()
	<-m.done
	m.rest.Wait()
	err := m.conf.Actuator.SetShare(0)
	running, _ := m.conf.Actuator.Load()
	for _, w := range m.node.Leave(m.clock.now(), running) {
		err = errors.Join(err, m.conf.Store.Write(ctx, Write(w)))
	}
	return err
}

// run passes entries and time to the node.
func (m *Member) run(ctx context.Context) {
	defer close(m.done)
	all := context.CancelFunc(nil) // ends the watch of all keys
	for {
		m.step()
		if leads := m.node.Leads(); leads && all == nil {
			var watched context.Context
			watched, all = context.WithCancel(ctx)
			m.rest.Go(func() { m.watch(watched, "", sight{all: true}) })
		} else if !leads && all != nil {
			all()
			all = nil
		}
		now := m.clock.now()
		wake := time.NewTimer(m.node.Wake(now) - now)
		m.await(ctx, wake)
		wake.Stop()
		if ctx.Err() != nil {
			if all != nil {
				all()
			}
			return
		}
	}
}

// await reads entries until the node has to act.
func (m *Member) await(ctx context.Context, wake *time.Timer) {
	led := m.node.Leads()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake.C:
			return
		case s := <-m.seen:
			if s.synced {
				m.node.Synced(s.all)
				continue
			}
			hurry, err := m.node.Read(m.clock.now(), s.entry)
			if err != nil {
				m.report(fmt.Errorf("fleet: entry %q of the store is foreign: %w", s.entry.Key, err))
			}
			if hurry || m.node.Leads() != led {
				return
			}
		}
	}
}

// step applies the share, and writes.
func (m *Member) step() {
	now := m.clock.now()
	for _, w := range m.node.Tick(now, m.use) {
		m.out.put(Write(w))
	}
	leader := m.node.Leader()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.snapshot.Share, m.snapshot.Leased = m.node.Share(), m.node.Leased()
	m.snapshot.Leader, m.snapshot.Epoch, m.snapshot.Leads = leader.ID, leader.N, m.node.Leads()
}

// use applies a share and then measures the load.
func (m *Member) use(share int) lease.Load {
	if err := m.conf.Actuator.SetShare(share); err != nil {
		m.report(err)
	}
	running, need := m.conf.Actuator.Load()
	return lease.Load{Running: running, Need: min(need, m.conf.Cap)}
}

// watch follows keys, and begins anew when the store fails.
func (m *Member) watch(ctx context.Context, prefix string, s sight) {
	send := func(s sight) {
		select {
		case m.seen <- s:
		case <-ctx.Done():
		}
	}
	for ctx.Err() == nil {
		lead := false // there is a leader
		err := m.conf.Store.Watch(ctx, prefix, func(e Entry) {
			next := s
			next.entry, next.synced = lease.Entry(e), e.Key == ""
			lead = lead || e.Key == lease.LeaderKey
			if next.synced && s.leader && !lead {
				send(sight{entry: lease.Entry{Key: lease.LeaderKey}})
			}
			send(next)
		})
		if ctx.Err() != nil {
			return
		}
		m.failed(fmt.Errorf("fleet: the watch of the store ended, trying again: %w", err))
		pause(ctx, m.conf.Refresh)
	}
}

// write sends the newest write of each key.
func (m *Member) write(ctx context.Context) {
	for {
		w, ok := m.out.take(ctx)
		if !ok {
			return
		}
		limited, cancel := context.WithTimeout(ctx, m.conf.Refresh)
		err := m.conf.Store.Write(limited, w)
		cancel()
		if ctx.Err() == nil {
			m.failed(err)
		}
	}
}

// failed notes an error of the store, or that it works.
func (m *Member) failed(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	m.mu.Lock()
	fresh := text != "" && text != m.snapshot.Err
	m.snapshot.Err = text
	m.mu.Unlock()
	if fresh {
		m.report(err)
	}
}

// report calls the hook, from one goroutine at a time.
func (m *Member) report(err error) {
	m.reporting.Lock()
	defer m.reporting.Unlock()
	m.conf.OnError(err)
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
