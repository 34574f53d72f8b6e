package bulkhead_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
)

// Important work is served first within a key, whichever of the key's limit and the cap it
// waits for.
func TestPrioritiesWithinAKey(t *testing.T) {
	for name, c := range map[string]bulkhead.Config{
		"waits for its limit": {Default: fixed(1, 8, time.Minute)},
		"waits for the cap":   {Max: 1, Default: fixed(5, 8, time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSet(t, c)
				held := hold(t, s, "a", 1)[0]
				waiting := map[weir.Priority]<-chan answer{}
				for _, p := range []weir.Priority{weir.Low, weir.Normal, weir.Critical, weir.High} {
					waiting[p] = ask(weir.WithPriority(t.Context(), p), s, "a")
				}
				for _, p := range []weir.Priority{weir.Critical, weir.High, weir.Normal, weir.Low} {
					held.Done(nil)
					held = admitted(t, waiting[p])
				}
				held.Done(nil)
				balanced(t, s)
			})
		})
	}
}

// A tenant of a key with thirty callers leaves the key's other tenants their share.
func TestNoisyTenantOfAKey(t *testing.T) {
	for _, tenants := range []int{0, 1024} {
		t.Run(fmt.Sprint(tenants, " buckets"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := fixed(10, 10, time.Minute)
				api.Config.Queue.Tenants = tenants
				s := newSet(t, bulkhead.Config{Max: 20, ByKey: byKey{"api": api}})
				until := time.Now().Add(time.Minute)
				call := func(tenant string, pause time.Duration) (served int) {
					ctx := weir.WithTenant(t.Context(), tenant)
					for time.Now().Before(until) {
						if s.Do(ctx, "api", work(100*time.Millisecond)) == nil {
							served++
							time.Sleep(pause)
						} else {
							time.Sleep(50 * time.Millisecond)
						}
					}
					return served
				}
				var all sync.WaitGroup
				for range 30 {
					all.Go(func() { call("noisy", 0) })
				}
				quiet := make([]int, 3)
				for i := range quiet {
					all.Go(func() { quiet[i] = call(fmt.Sprint("quiet", i), 100*time.Millisecond) })
				}
				all.Wait()
				// Of 300 a few wait; more should a tenant meet the noisy one in a bucket.
				if fair := slices.Min(quiet) > 200; fair != (tenants > 0) {
					t.Errorf("of the quiet ones %v were served", quiet)
				}
				balanced(t, s)
			})
		})
	}
}
