package dash

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/weir-go/weir"
)

// A function of the configuration that panics, or ends its goroutine, stops neither the process nor
// the page, which shows the last state and that it is old.
func TestReadFails(t *testing.T) {
	for _, at := range []int{1, 3} { // for the first page, and later
		for how, fail := range map[string]func(){"panics": func() { panic("boom") }, "exits": runtime.Goexit} {
			t.Run(fmt.Sprint(how, " in reading ", at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := &world{snaps: []weir.Snapshot{{Name: "a", Limit: 3}}}
					h := newHub(w.read)
					h.tables = func() []Table {
						if w.reads >= at && w.reads < at+2 {
							fail()
						}
						return []Table{{Name: "pages"}}
					}
					defer end(h)
					c := join(t, h, "a")
					for i := range 6 {
						o, _ := next(t, c)
						name, reading := o.Tables[0].Name, i+1
						want := "pages"
						if reading == at || reading == at+1 {
							want = "not read"
						}
						if name != want || len(o.Limiters) == 0 && at > 1 {
							t.Errorf("reading %d shows the table %q and limiters %v: want %q, and the last limiters", reading, name, o.Limiters, want)
						}
					}
				})
			})
		}
	}
}
