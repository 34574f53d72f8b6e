package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/weir-go/weir/internal/isolate"
	"github.com/weir-go/weir/internal/lease"
	"github.com/weir-go/weir/internal/wire"
)

// A Member keeps the work of one process within its share of the cap. Make one with [Join]. All
// methods are safe for concurrent use.
type Member struct {
	conf  Config
	clock clock
	node  *lease.Node // for the goroutine run only

	seen chan sight
	term int  // counts the watches of all keys; for the goroutine run
	caps caps // for the goroutine run only
	out  outbox
	stop context.CancelFunc
	done chan struct{}
	rest sync.WaitGroup

	leaving sync.Mutex // held by a call of Leave that uses the fields of the goroutine run

	mu       sync.Mutex
	snapshot Snapshot
	faults   [sources]string // the last error of each source, empty while the source works

	reports chan error // for OnError
	hook    isolate.Hook[error]
}

// A Snapshot is the state of a member.
type Snapshot struct {
	ID      string // of the member
	Share   int    // of the cap; 1,000,000,000 without a bound, see [Local]
	Leased  bool   // false before the first lease, and after its end
	Members int    // in the fleet when the last lease began; 0 before the first
	Leader  string // ID of the member that allocates, as far as this member knows
	Epoch   uint64 // the number of the leader's term
	Leads   bool   // this member allocates
	Err     string // the last error of the store, empty while the store works
}

// A source is a part of a store that may fail.
type source uint8

const (
	leader source = iota // the watch of the leader
	grant                // the watch of the own grant
	all                  // the watch of all keys
	writes
	sources
)

// A sight is an entry that a watch saw.
type sight struct {
	entry  lease.Entry
	synced bool // all present entries have been read
	of     source
	term   int // of the watch of all keys
}

// Join makes this process a member of a fleet. Before its first lease a member has no share, or
// with [Local] no bound. The first lease takes five refreshes, and in a new fleet one and a half
// TTL and one Grace. A balancer should wait until [Snapshot].Leased. An error matches
// [weir.ErrConfig] and names the setting.
//
// A member has a goroutine for itself, one for OnError, three for its writes and one for each of up
// to three watches of the store. [Member.Leave] ends them.
func Join(c Config) (*Member, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	m := &Member{
		conf: c, clock: newClock(), seen: make(chan sight), out: newOutbox(), stop: stop, done: make(chan struct{}),
		reports: make(chan error, mostReports), hook: isolate.Hook[error]{Name: "fleet: OnError", Call: c.OnError},
	}
	m.node = lease.NewNode(c.lease(), m.clock.now())
	m.snapshot = Snapshot{ID: c.ID, Share: m.node.Share()}
	if err := c.Actuator.SetShare(m.snapshot.Share); err != nil {
		stop()
		return nil, err
	}
	m.rest.Go(func() { m.watch(ctx, lease.LeaderKey, sight{of: leader}) })
	m.rest.Go(func() { m.watch(ctx, lease.GrantPrefix+c.ID, sight{of: grant}) })
	for range writers {
		m.rest.Go(func() { m.write(ctx) })
	}
	go m.run(ctx)
	go m.tell(ctx)
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

// Leave gives the share back: no more work starts. Call it once the work has ended, as after
// [weir.Limiter.Shutdown]. Work that still runs keeps its slots until [Config].Grace is over. Leave
// writes that to the store until ctx ends. It returns the error of the store, and of an OnError
// that panicked or ended its goroutine.
func (m *Member) Leave(ctx context.Context) error {
	ctx = cmp.Or(ctx, context.Background())
	m.stop()
	<-m.done
	ended := make(chan struct{})
	go func() { m.rest.Wait(); close(ended) }()
	select { // so that no write follows the last write
	case <-ended:
	case <-ctx.Done():
	}
	last, err := m.last()
	err = errors.Join(err, m.hook.Failure())
	for _, w := range last {
		err = errors.Join(err, m.conf.Store.Write(ctx, Write(w)))
	}
	return err
}

// last gives the share back, once the goroutine run has ended, and returns the writes that remain.
func (m *Member) last() ([]lease.Write, error) {
	m.leaving.Lock()
	defer m.leaving.Unlock()
	err := m.conf.Actuator.SetShare(0)
	running, _ := m.conf.Actuator.Load()
	writes := m.node.Leave(m.clock.now(), running)
	m.show()
	return writes, err
}

// run passes entries and time to the node.
func (m *Member) run(ctx context.Context) {
	defer close(m.done)
	unwatch := func() {} // ends the watch of all keys
	defer func() { unwatch() }()
	for led := false; ctx.Err() == nil; {
		m.step()
		if leads := m.node.Leads(); leads != led {
			led = leads
			if unwatch(); leads {
				unwatch = m.follow(ctx)
			}
		}
		now := m.clock.now()
		wake := time.NewTimer(m.node.Wake(now) - now)
		m.await(ctx, wake)
		wake.Stop()
	}
}

// follow watches all keys, as an allocator does.
func (m *Member) follow(ctx context.Context) (stop func()) {
	m.term++
	s := sight{of: all, term: m.term}
	ctx, stop = context.WithCancel(ctx)
	m.rest.Go(func() {
		m.watch(ctx, lease.AllKeys, s)
		m.failed(all, nil) // the error of an ended watch no longer counts
	})
	return stop
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
			if s.of == all && s.term != m.term { // an earlier term must not end the wait of this one
				continue
			}
			if s.synced {
				m.node.Synced(s.of == all)
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

// step applies the share and writes entries to the store.
func (m *Member) step() {
	now := m.clock.now()
	for _, w := range m.node.Tick(now, m.use) {
		m.out.put(Write(w))
	}
	if advice, ok := m.node.Advice(); ok && m.conf.Learner != nil {
		m.conf.Learner.advise(advice)
	}
	m.compareCaps()
	m.show()
}

// show copies the state of the node into the snapshot.
func (m *Member) show() {
	epoch := m.node.Leader()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.snapshot.Share, m.snapshot.Leased, m.snapshot.Members = m.node.Share(), m.node.Leased(), m.node.Members()
	m.snapshot.Leader, m.snapshot.Epoch, m.snapshot.Leads = epoch.ID, epoch.N, m.node.Leads()
}

// caps has the lowest and the highest cap of the members.
type caps struct{ lowest, highest int }

// compareCaps reports different caps of the members, once for each pair of the lowest and the
// highest.
func (m *Member) compareCaps() {
	before := m.caps
	m.caps.lowest, m.caps.highest = m.node.Caps()
	if m.caps != before && m.caps.lowest != m.caps.highest {
		m.report(fmt.Errorf("fleet: the members have caps from %d to %d: the lowest counts, until all have the same", m.caps.lowest, m.caps.highest))
	}
}

// use applies a share and then measures the load.
func (m *Member) use(share int) lease.Load {
	if err := m.conf.Actuator.SetShare(share); err != nil {
		m.report(err)
	}
	running, need := m.conf.Actuator.Load()
	return lease.Load{Running: running, Need: min(need, m.conf.Cap), Report: m.conf.Learner.last()}
}

// watch passes the entries of keys to the goroutine run, and begins anew when the store fails.
func (m *Member) watch(ctx context.Context, key string, s sight) {
	send := func(s sight) {
		select {
		case m.seen <- s:
		case <-ctx.Done():
		}
	}
	for ctx.Err() == nil {
		led := false // there is a leader
		err := m.conf.Store.Watch(ctx, key, func(e Entry) {
			next := s
			next.entry, next.synced = lease.Entry(e), e.Key == ""
			led = led || e.Key == lease.LeaderKey
			if next.synced {
				m.failed(s.of, nil)
			}
			if next.synced && s.of == leader && !led {
				send(sight{of: leader, entry: lease.Entry{Key: lease.LeaderKey}})
			}
			send(next)
		})
		if ctx.Err() != nil {
			return
		}
		m.failed(s.of, fmt.Errorf("fleet: the watch of the store ended, trying again: %w", err))
		select {
		case <-time.After(m.conf.Refresh):
		case <-ctx.Done():
		}
	}
}

// writers is the number of writes that a member sends at once. An allocator writes its want, its
// term and grants. A slow store is usually no slower for three writes than for one.
const writers = 3

// write sends the newest write of each key. A write may take longer than a refresh, since a slow
// store is better than none. A write that is given up costs the store as much, and PostgreSQL a
// connection too. After a quarter of a lease, the next write still comes in time.
func (m *Member) write(ctx context.Context) {
	for {
		w, ok := m.out.take(ctx)
		if !ok {
			return
		}
		limited, cancel := context.WithTimeout(ctx, m.conf.TTL/4)
		err := m.conf.Store.Write(limited, w)
		cancel()
		m.out.sent(w)
		if err != nil {
			err = fmt.Errorf("fleet: a write to the store failed: %w", err)
		}
		if ctx.Err() == nil {
			m.failed(writes, err)
		}
	}
}

// failed notes an error of a source, or nil if the source works. It reports each new error once.
func (m *Member) failed(of source, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	m.mu.Lock()
	fresh := text != "" && !slices.Contains(m.faults[:], text)
	m.faults[of] = text
	m.snapshot.Err = cmp.Or(m.faults[:]...)
	m.mu.Unlock()
	if fresh {
		m.report(err)
	}
}

// mostReports is the number of errors that may wait for OnError. Further errors are dropped.
const mostReports = 16

// report passes an error to OnError, without waiting for it: a member that waited would keep its
// share after its lease.
func (m *Member) report(err error) {
	select {
	case m.reports <- err:
	default:
	}
}

// tell calls OnError with the errors until ctx ends, and then with the errors that wait.
func (m *Member) tell(ctx context.Context) {
	for {
		select {
		case err := <-m.reports:
			m.hook.Tell(err)
			continue
		default:
		}
		select {
		case err := <-m.reports:
			m.hook.Tell(err)
		case <-ctx.Done():
			return
		}
	}
}

// A clock continues while the process runs, and at least as fast as the monotonic clock or the wall
// clock. The monotonic clock stops while the machine sleeps, and a lease must not last longer
// because of it. A wall clock that is set forward ends leases early, which is safe.
type clock struct {
	last time.Time
	sum  time.Duration
}

// started is the first reading: 0 means never in package lease.
const started = time.Second

func newClock() clock { return clock{last: time.Now(), sum: started} }

// now returns the time since some moment before the clock was made. Only one goroutine may call it
// at a time.
func (c *clock) now() time.Duration {
	now := time.Now()
	c.sum += max(now.Sub(c.last), now.Round(0).Sub(c.last.Round(0)), 0)
	c.last = now
	return c.sum
}
