package memory

import (
	"context"
	"time"
)

const (
	lookEvery = 10 * time.Millisecond // a store on a quiet machine maps 5 MiB meanwhile

	pageAbove = 0.85                   // of the target, resident: the rest is mapped while the pages of a large store are taken back, 60 ms
	pageLeast = 32                     // the target divided by it is in use by a store at any time: to take back less has no effect
	vainEvery = 100 * time.Millisecond // where Linux takes nothing back
)

// residence is the resident memory at one moment, in bytes.
type residence struct{ anonymous, all uint64 }

// ofFiles returns the resident memory of mapped files.
func (r residence) ofFiles() uint64 { return r.all - min(r.anonymous, r.all) }

// pager decides when the pages of mapped files are taken back.
type pager struct {
	target uint64
	next   time.Duration // not before, since any moment
}

func (p *pager) due(at time.Duration, r residence) bool {
	above := float64(r.all) > pageAbove*float64(p.target)
	return at >= p.next && above && r.ofFiles() >= p.target/pageLeast
}

// took notes the result.
func (p *pager) took(at time.Duration, before, after residence) {
	if before.ofFiles() < after.ofFiles()+p.target/pageLeast/2 {
		p.next = at + vainEvery
	}
}

// takeBack takes pages back until ctx ends. It looks more often than Run decides, for a store maps
// and writes fast.
func (g *Governor) takeBack(ctx context.Context) {
	p := pager{target: g.conf.Target}
	began := time.Now()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		before := g.process.resident()
		if !p.due(time.Since(began), before) {
			continue
		}
		advised := g.process.pageOut(g.conf.Mapped)
		p.took(time.Since(began), before, g.process.resident())
		g.mu.Lock()
		g.took += advised
		g.mu.Unlock()
	}
}
