package listen

import "time"

// A pace is the time by which a client is behind with a body: the excess of the time in which the
// proxy waited for the client over the time that its bytes take at BodyRate. It is never negative,
// because otherwise a client that begins fast could buy hours with a megabyte.
type pace struct {
	behind time.Duration
	free   bool // of the rate
}

// left returns the time for which the proxy waits for the client now. 0 means no bound.
func (p *pace) left(l *live) time.Duration {
	if l.BodyTimeout <= 0 {
		return 0
	}
	return max(time.Duration(l.BodyTimeout)-p.behind, 1)
}

// add adds a wait that brought the given bytes.
func (p *pace) add(waited time.Duration, bytes int, l *live) {
	if p.free || l.BodyRate <= 0 {
		p.behind = 0
		return
	}
	p.behind = max(0, p.behind+waited-time.Duration(bytes)*time.Second/time.Duration(l.BodyRate))
}
