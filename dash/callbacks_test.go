package dash

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
)

// A function of the configuration that panics, or ends its goroutine, stops neither the process nor
// the page, which shows the last state and that it is old. Earlier readings are not sent again.
func TestReadFails(t *testing.T) {
	for _, at := range []int{1, 3} { // for the first page, and later
		for how, fail := range map[string]func(){"panics": func() { panic("boom") }, "exits": runtime.Goexit} {
			t.Run(fmt.Sprint(how, " in reading ", at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := &world{snaps: []weir.Snapshot{{Name: "a", Limit: 3}}}
					h := newHub(Config{Read: w.read})
					h.config.Tables = func() []Table {
						if w.reads >= at && w.reads < at+2 {
							fail()
						}
						return []Table{{Name: "pages"}}
					}
					defer end(h)
					c := join(t, h, "a")
					for i := range 6 {
						o, d := next(t, c)
						name, reading := o.Tables[0].Name, i+1
						want := "pages"
						if reading == at || reading == at+1 {
							want = "not read"
						}
						if name != want || len(o.Limiters) == 0 && at > 1 {
							t.Errorf("reading %d shows the table %q and limiters %v: want %q, and the last limiters", reading, name, o.Limiters, want)
						}
						if len(d.Points) > 0 != (want == "pages") {
							t.Errorf("reading %d brings %d points, want one if it did not fail", reading, len(d.Points))
						}
					}
				})
			})
		}
	}
}

// A function of the configuration that blocks holds up no page that has the past, and no Close.
func TestReadBlocks(t *testing.T) {
	for _, at := range []int{1, 3} { // for the first page, and later
		synctest.Test(t, func(t *testing.T) {
			w := &world{snaps: []weir.Snapshot{{Name: "a"}}}
			h := newHub(Config{Read: w.read})
			defer end(h)
			release := make(chan struct{})
			h.config.Tables = func() []Table {
				if w.reads == at {
					<-release
				}
				return nil
			}
			first := join(t, h, "a")
			for range at - 1 {
				next(t, first)
			}
			time.Sleep(2 * every)
			if !h.mu.TryLock() {
				close(release)
				t.Fatal("the reading holds the lock")
			}
			h.mu.Unlock()
			second := join(t, h, "a")
			h.leave(first)
			if at > 1 {
				if _, d := next(t, second); len(d.Points) != at-1 {
					t.Errorf("%d readings, want the past: %d", len(d.Points), at-1)
				}
			}
			close(release)
			if _, d := next(t, second); len(d.Points) != 1 {
				t.Errorf("%d readings, want the one that was held up", len(d.Points))
			} else if late := time.Since(time.UnixMilli(d.Points[0].At)); late > 0 {
				t.Errorf("the reading has the time of %v before", late)
			}
		})
	}
}
