package lease

import (
	"time"

	"github.com/weir-go/weir/law"
)

// A Fallback is the share of a member when its lease has ended.
type Fallback uint8

const (
	Keep   Fallback = iota // the smaller of its last share and an equal part of the cap
	Refuse                 // 0
	Local                  // no share: MostSlots
)

// A Config is complete: package fleet fills in its defaults and checks it.
type Config struct {
	ID       string // of this process, and of no other process ever
	Cap      int
	Weight   float64
	Fallback Fallback
	Refresh  time.Duration // the time between wants
	TTL      time.Duration // of a lease
	Grace    time.Duration // the longest work
	Forget   time.Duration // how long a silent member is counted
}

// term is how long an allocator may believe that it leads while the store is silent. The time is
// short, so that the next allocator is elected before the leases end.
func (c Config) term() time.Duration { return c.TTL / 2 }

// drift returns the longest time on our clock while another clock counts d: clocks run apart by
// less than a tenth.
func drift(d time.Duration) time.Duration { return d + d/10 }

// wait returns how long grants of earlier allocators, and the work that they let start, may last.
func (c Config) wait() time.Duration { return drift(c.term() + c.TTL + c.Grace) }

// An Entry is a value in the store. An Entry without a key means that all present entries have been
// read. An Entry without a value means that the key has no value.
type Entry struct {
	Key   string
	Value []byte
	Rev   uint64
}

// A Write is a write to the store. Without a value it deletes the key.
type Write struct {
	Key   string
	Value []byte
	Swap  bool   // write only if the revision of the key is Rev, or without a value if Rev is 0
	Rev   uint64 // see Swap
}

// A Load is the need and the running work of a process, in slots.
type Load struct {
	Need, Running int
	Report        *law.Report // of its law, a new pointer for a new report; nil if none is newer than the last advice
}

// A Node is one process. Its methods are not safe for concurrent use. Times are durations since
// some moment before the node was made, by the clock of the process.
type Node struct {
	conf   Config
	member member
	ballot ballot
	alloc  *allocator // nil while another leads
}

// NewNode returns the node of a process. It needs the entries of its own grant and of the leader.
func NewNode(c Config, now time.Duration) *Node {
	return &Node{conf: c, member: newMember(c), ballot: ballot{seen: now, jitter: jitter(c)}}
}

// Share returns the number of slots that may be in use now.
func (n *Node) Share() int { return n.member.share }

// Leads reports whether this node is the allocator. As long as it leads, it needs the entries of
// all keys, the present entries first.
func (n *Node) Leads() bool { return n.alloc != nil }

// Leader returns the term of the allocator, as far as this node knows.
func (n *Node) Leader() Epoch { return n.ballot.leader.Epoch }

// Leased reports whether the share is leased, and is not the fallback.
func (n *Node) Leased() bool { return n.member.lease > 0 }

// Caps returns the lowest and the highest cap of the members, as far as this node knows. An
// allocator knows the caps of all members.
func (n *Node) Caps() (lowest, highest int) {
	if n.alloc == nil {
		return n.conf.Cap, n.conf.Cap
	}
	return n.alloc.caps()
}

// Members returns the number of members that the allocator knew when it wrote the last grant, 0
// before the first grant.
func (n *Node) Members() int { return n.member.members }

// Advice returns advice for the law of this process, once. After the end of a lease it returns the
// zero Advice, because the law then learns without the other members.
func (n *Node) Advice() (a law.Advice, ok bool) {
	advice := n.member.advice
	if advice == nil {
		return law.Advice{}, false
	}
	n.member.advice = nil
	return *advice, true
}

// Wake returns the latest time for the next call of Tick.
func (n *Node) Wake(now time.Duration) time.Duration {
	next := now + n.conf.Refresh/4 // the allocator's pace
	if end := n.member.lease; end > now {
		return min(next, end)
	}
	return next
}

// Read takes an entry of the store, and reports whether Tick has to follow at once. An error means
// that the value is not a valid message of the fleet.
func (n *Node) Read(now time.Duration, e Entry) (hurry bool, err error) {
	prefix, id := kind(e.Key)
	switch {
	case e.Key == LeaderKey:
		return n.readLeader(now, e)
	case e.Value == nil: // the key was deleted; a member that leaves says so in a want
	case prefix == GrantPrefix && id == n.conf.ID:
		return n.readGrant(now, e.Value)
	case n.alloc != nil && prefix == GrantPrefix:
		g, err := decode[Grant](e.Value)
		if err == nil {
			n.alloc.readGrant(now, id, g)
		}
		return false, err
	case n.alloc != nil && prefix == WantPrefix:
		return false, n.readWant(now, id, e.Value)
	}
	return false, nil
}

// Synced records that Read got all present entries of the leader or, with all, of all keys.
func (n *Node) Synced(all bool) {
	n.ballot.synced = true
	if all && n.alloc != nil {
		n.alloc.synced = true
	}
}

func (n *Node) readGrant(now time.Duration, value []byte) (hurry bool, err error) {
	g, err := decode[Grant](value)
	if err != nil {
		return false, err
	}
	changed := n.member.apply(now, g)
	n.abdicate(now)
	return changed, nil
}

func (n *Node) readWant(now time.Duration, id string, value []byte) error {
	w, err := decode[Want](value)
	if err != nil {
		return err
	}
	n.member.promise(w.Epoch)
	if n.abdicate(now); n.alloc != nil {
		n.alloc.readWant(now, id, w)
	}
	return nil
}

func (n *Node) readLeader(now time.Duration, e Entry) (hurry bool, err error) {
	var l Leader
	if e.Value == nil {
		e.Rev = 0
	} else if l, err = decode[Leader](e.Value); err != nil {
		l = Leader{Blind: n.conf.wait()} // as for an old entry: the last leader is unknown
	}
	n.ballot.read(now, l, e.Rev)
	before := n.member.promised
	n.member.promise(l.Epoch)
	if n.ballot.elected(n.conf, l, n.member.promised) {
		n.alloc = newAllocator(n.conf, now, l)
	}
	n.abdicate(now)
	return before != n.member.promised, err
}

// abdicate ends the leadership of this node if its time is over, or if a later term has begun.
func (n *Node) abdicate(now time.Duration) {
	if n.alloc != nil && (n.alloc.epoch != n.member.promised || n.ballot.leader.Epoch != n.alloc.epoch ||
		now >= n.ballot.leader.Sent+n.conf.term()) {
		n.alloc = nil
	}
}

// Tick returns the writes that are due. It calls use with the share that holds from now on; use
// applies it and then measures the load.
func (n *Node) Tick(now time.Duration, use func(share int) Load) []Write {
	n.member.expire(now)
	load := use(n.member.share)
	var writes []Write
	if n.member.due(now, load) {
		writes = append(writes, Write{Key: WantPrefix + n.conf.ID, Value: encode(n.member.want(now, load))})
	}
	n.abdicate(now)
	if n.alloc != nil {
		writes = append(writes, n.alloc.allocate(now)...)
	}
	if w, ok := n.ballot.campaign(n.conf, now, n.alloc, n.member.promised); ok {
		writes = append(writes, w)
	}
	return writes
}

// Leave returns the last writes of a member that holds nothing from now on. While its last work
// runs, the allocator counts the slots of that work, as for a silent member.
func (n *Node) Leave(now time.Duration, running int) []Write {
	n.member.share, n.member.keep, n.member.lease = 0, 0, 0
	n.alloc = nil
	w := n.member.want(now, Load{Running: running})
	w.Held, w.Refuse, w.Leaving = 0, true, running == 0
	return []Write{{Key: WantPrefix + n.conf.ID, Value: encode(w)}}
}
