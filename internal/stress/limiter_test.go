package stress

import (
	"sync"
	"testing"

	"github.com/weir-go/weir"
)

// Updates at the same time leave one of the configurations, not a mixture, at every moment.
func TestUpdatesAreWhole(t *testing.T) {
	l := weir.Must(weir.New(weir.Config{Name: "a", Max: 10}))
	for range 10_000 {
		var all sync.WaitGroup
		all.Go(func() { _ = l.Update(weir.Config{Name: "a", Max: 10}) })
		all.Go(func() { _ = l.Update(weir.Config{Name: "b", Max: 20}) })
		all.Go(func() {
			if c := l.Config(); (c.Name == "a") != (c.Max == 10) {
				t.Errorf("%q with Max %d", c.Name, c.Max)
			}
		})
		all.Wait()
		if s := l.Snapshot(); (s.Name == "a") != (s.Max == 10) {
			t.Fatalf("name %q with maximum %d", s.Name, s.Max)
		}
	}
}
