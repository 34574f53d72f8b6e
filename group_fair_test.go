package weir_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
)

// Equal members have equal slots however many callers each has, also one with no more callers
// than slots: what it gives back is not lent before it could come again.
func TestSharesDoNotDependOnCallers(t *testing.T) {
	for _, slots := range []int{3, 9, 12} {
		t.Run(fmt.Sprint(slots), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const lasting, work = 20 * time.Second, 10 * time.Millisecond
				g := newGroup(t, slots)
				var ran [3]atomic.Int64
				var all sync.WaitGroup
				end := time.Now().Add(lasting)
				for i, callers := range []int{40, 10, 4} {
					l := member(t, g, fmt.Sprint(i), weir.Stake{})
					for range callers {
						all.Go(func() {
							for time.Now().Before(end) {
								_ = l.Do(context.Background(), func(context.Context) error {
									time.Sleep(work)
									ran[i].Add(1)
									return nil
								})
							}
						})
					}
				}
				all.Wait()
				entitled := float64(slots) / 3
				for i := range ran {
					held := float64(ran[i].Load()) * work.Seconds() / lasting.Seconds()
					if held < 0.95*entitled || held > 1.05*entitled {
						t.Errorf("member %d ran %.2f at once: want %.0f within 5%%", i, held, entitled)
					}
				}
			})
		})
	}
}
