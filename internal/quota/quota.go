package quota

import "sync"

// A Quota bounds the amount that all keys have taken together, and the amount that each key has
// taken. The zero Quota has given out nothing. All methods are safe for concurrent use.
type Quota[K comparable] struct {
	mu   sync.Mutex
	all  int64
	each map[K]int64
}

// Take gives n more to k, and reports whether it did: no key may have more than each, and all keys
// together no more than all.
func (q *Quota[K]) Take(k K, n, each, all int64) bool {
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

// Give returns to the quota n of the amount that k took.
func (q *Quota[K]) Give(k K, n int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all -= n
	if left := q.each[k] - n; left == 0 {
		delete(q.each, k)
	} else {
		q.each[k] = left
	}
}

// Used returns the amount that is given out.
func (q *Quota[K]) Used() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.all
}
