// Package together has many callers do the same at once.
package together

import "sync"

// Do calls the function n times at once, with the numbers from 0, and returns when all calls have.
func Do(n int, call func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { call(i) })
	}
	all.Wait()
}
