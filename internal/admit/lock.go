package admit

import (
	"runtime"
	"sync"
)

// lock takes the lock of the node or, in a group, the group's.
func (s *slots) lock() {
	if mu := s.mutex(); !mu.TryLock() {
		lock(mu)
	}
}

func (s *slots) unlock() { s.mutex().Unlock() }

func (s *slots) mutex() *sync.Mutex {
	if s.member != nil {
		return &s.member.group.mu
	}
	return &s.mu
}

// A goroutine that finds the lock taken retries for a moment, yields, and retries, before it
// sleeps. The critical sections take less time than putting a goroutine to sleep, and a mutex on
// which goroutines sleep becomes slow, because it is fair. With Lock alone BenchmarkHandoff loses
// 5%, and sometimes a third.
const (
	yields = 8
	tries  = 30 // between yields
)

func lock(mu *sync.Mutex) {
	for range yields {
		for range tries {
			if mu.TryLock() {
				return
			}
		}
		runtime.Gosched()
	}
	mu.Lock()
}
