package exchange

import "sync"

// A quota bounds how much of something there is, and how much of it each of many has. The zero
// quota has given nothing.
type quota[K comparable] struct {
	mu   sync.Mutex
	all  int64
	each map[K]int64
}

// take gives n more to k, and reports whether it did: no k may have more than each, and all
// together no more than all.
func (q *quota[K]) take(k K, n, each, all int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.all+n > all || q.each[k]+n > each {
		return false
	}
	if q.each == nil {
		q.each = map[K]int64{}
	}
	q.all += n
	q.each[k] += n
	return true
}

func (q *quota[K]) give(k K, n int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all -= n
	if q.each[k] -= n; q.each[k] == 0 {
		delete(q.each, k)
	}
}

// used returns how much was given and is not back.
func (q *quota[K]) used() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.all
}
