package suites

import (
	"time"

	"github.com/weir-go/weir/law"
)

// A talk is the default law in limiters that learn together, as package fleet does it. Each reports
// every second, an allocator answers every second, and a message takes the delay.
type talk struct {
	delay      time.Duration
	lost, back time.Duration // the store is down from then on, and until then
	now        time.Duration
	peers      []*peer
	rounds     []round // of advice, on the way
}

const (
	refresh = time.Second
	ttl     = 10 * refresh
)

// A round is the advice to all, and which of their reports it answers.
type round struct {
	at      time.Duration
	advice  []law.Advice
	answers []time.Duration
}

// A peer is one of the limiters.
type peer struct {
	law.Peer
	talk    *talk
	index   int
	sent    []report      // on the way
	known   report        // by the allocator
	said    time.Duration // when it last reported
	heard   time.Duration // the last round
	advised time.Duration // when it last took advice
}

type report struct {
	law.Report
	at time.Duration
}

func (*talk) Start() int { return 2 }

func (t *talk) Controller(b law.Bounds) (law.Controller, error) {
	c, err := law.Setpoint{}.Controller(b)
	if err != nil {
		return nil, err
	}
	p := &peer{Peer: c.(law.Peer), talk: t, index: len(t.peers)}
	t.peers = append(t.peers, p)
	return p, nil
}

func (p *peer) Next(w law.Window) law.Decision {
	t := p.talk
	if !w.Closed.IsZero() {
		t.now = max(t.now, time.Duration(w.Closed.UnixNano()))
	}
	t.allocate()
	p.listen()
	d := p.Peer.Next(w)
	if w.Elapsed > 0 && (p.said == 0 || t.now >= p.said+refresh) && !t.down(t.now) {
		p.said = t.now
		p.sent = append(p.sent, report{p.Report(), t.now})
	}
	return d
}

func (t *talk) down(at time.Duration) bool { return at >= t.lost && at < t.back }

// allocate answers all whose reports have arrived.
func (t *talk) allocate() {
	for _, p := range t.peers {
		for len(p.sent) > 0 && p.sent[0].at+t.delay <= t.now {
			p.known, p.sent = p.sent[0], p.sent[1:]
		}
	}
	if n := len(t.rounds); n > 0 && t.now < t.rounds[n-1].at+refresh || t.down(t.now) {
		return
	}
	next := round{at: t.now, advice: make([]law.Advice, len(t.peers)), answers: make([]time.Duration, len(t.peers))}
	var live []int
	var reports []law.Report
	for i, p := range t.peers {
		if p.known.at > 0 && t.now < p.known.at+ttl {
			live, reports = append(live, i), append(reports, p.known.Report)
			next.answers[i] = p.known.at
		}
	}
	advice := law.Advise(reports)
	for i, of := range live {
		next.advice[of] = advice[i]
	}
	t.rounds = append(t.rounds, next)
	for len(t.rounds) > 2 && t.rounds[1].at+t.delay <= t.now {
		t.rounds = t.rounds[1:]
	}
}

// listen takes the newest advice that has arrived, unless it was given before the last took effect.
func (p *peer) listen() {
	t := p.talk
	for _, r := range t.rounds {
		if r.at <= p.heard || r.at+t.delay > t.now || p.index >= len(r.advice) {
			continue
		}
		if p.heard = r.at; r.answers[p.index] > p.advised {
			p.advised = t.now
			p.Advise(r.advice[p.index])
		}
	}
	if p.heard > 0 && t.now > p.heard+ttl {
		p.Advise(law.Advice{})
	}
}
