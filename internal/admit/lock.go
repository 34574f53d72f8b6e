package admit

import (
	"runtime"
	"sync"
)

func (n *Node) lock() {
	if n.group != nil {
		lock(&n.group.mu)
		return
	}
	lock(&n.mu)
}

func (n *Node) unlock() {
	if n.group != nil {
		n.group.mu.Unlock()
		return
	}
	n.mu.Unlock()
}

// spins is how often a goroutine tries again before it queues for the lock, and
// yields how often it lets others run in between. What the lock guards takes
// less time than putting a goroutine to sleep: with 64 goroutines on two
// processors BenchmarkAcquire is three times slower without.
const (
	spins  = 30
	yields = 8
)

func lock(mu *sync.Mutex) {
	if mu.TryLock() {
		return
	}
	for range yields {
		for range spins {
			if mu.TryLock() {
				return
			}
		}
		runtime.Gosched()
	}
	mu.Lock()
}
