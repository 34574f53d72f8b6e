package memory

import (
	"context"
	"time"
)

const (
	lookEvery = 10 * time.Millisecond // a store on a quiet machine maps 5 MiB meanwhile

	pageAbove = 0.85                   // of the target, resident: the rest is mapped while the pages of a large store are taken back, 60 ms
	pageLeast = 32                     // a store always uses target/pageLeast: to take back less has no effect
	vainEvery = 100 * time.Millisecond // the time to the next look after Linux took no pages back
)

// residence is the resident memory at one moment, in bytes.
type residence struct{ anonymous, all uint64 }

// ofFiles returns the resident memory of mapped files.
func (r residence) ofFiles() uint64 { return r.all - min(r.anonymous, r.all) }

// takeBack takes pages back until ctx ends. It looks more often than Run decides, for a store maps
// and writes fast.
func (g *Governor) takeBack(ctx context.Context) {
	timer := time.NewTimer(lookEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			timer.Reset(g.look())
		}
	}
}

// look takes back the pages of mapped files if there are too many, and returns the time until the
// next look.
func (g *Governor) look() (after time.Duration) {
	target, before := g.conf.Target, g.process.resident()
	above := float64(before.all) > pageAbove*float64(target)
	if !above || before.ofFiles() < target/pageLeast {
		return lookEvery
	}
	advised := g.process.pageOut(g.conf.Mapped)
	g.mu.Lock()
	g.took += advised
	g.mu.Unlock()
	if before.ofFiles() < g.process.resident().ofFiles()+target/pageLeast/2 {
		return vainEvery
	}
	return lookEvery
}
