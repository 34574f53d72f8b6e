// Package together makes many calls at the same time.
package together

import "sync"

// Do calls the function n times at once, with the numbers from 0, and returns when all calls have
// returned.
func Do(n int, call func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { call(i) })
	}
	all.Wait()
}
