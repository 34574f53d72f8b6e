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

// tries is how often a goroutine that finds the lock taken lets others run and
// tries again before it sleeps. What the lock guards takes less time than putting a
// goroutine to sleep: without it BenchmarkHandoff loses 7% and
// BenchmarkAcquire with 64 goroutines on two processors 15%.
const tries = 16

func lock(mu *sync.Mutex) {
	for range tries {
		if mu.TryLock() {
			return
		}
		runtime.Gosched()
	}
	mu.Lock()
}
