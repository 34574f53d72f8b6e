package weir

import (
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

// after carries out the effects of a call into the core, without its lock.
func (l *Limiter) after(fx *admit.Effects) {
	l.afterVerdict(fx, refusal{})
}

// afterVerdict is after for a call that decided on work. The caller reports the refusal, unless
// a law or a hook panics.
func (l *Limiter) afterVerdict(fx *admit.Effects, no refusal) {
	if !fx.None() {
		l.finish(fx, nil, no)
	}
}

// finish wakes and reports. The ticket, unless nil, and the refusal are not known to the caller
// yet: if a law or a hook panics, finish gives the ticket back and reports the refusal.
func (l *Limiter) finish(fx *admit.Effects, ticket *reply.Ticket, no refusal) {
	fx.Woken.Wake()
	if !fx.Notable {
		return
	}
	reported := false
	defer func() {
		if reported {
			return
		}
		if ticket != nil {
			var rest admit.Effects
			l.node.Done(*ticket, now(), window.Ignore, &rest)
			rest.Woken.Wake()
		}
		if no.verdict.Refused() {
			l.config.Load().tellRefusal(no)
		}
	}()
	l.report(fx)
	if fx.Panic != nil {
		panic(fx.Panic)
	}
	reported = true
}

func (l *Limiter) report(fx *admit.Effects) {
	conf := l.config.Load()
	if conf.onEvent == nil {
		return
	}
	events := make([]Event, 0, len(fx.Lapsed)+2)
	refused := Event{At: time.Now(), Limiter: conf.name, Kind: WouldRefuse}
	for _, l := range fx.Lapsed {
		refused.Seq, refused.Reason = l.Seq, Reason(l.Why)
		events = append(events, refused)
	}
	if c := fx.Change; c != nil {
		e := Event{Seq: c.Seq, At: wallTime(c.At), Limiter: conf.name, Kind: LimitChanged, Change: publicChange(*c)}
		if fx.Replaced {
			e.Kind = LawReplaced
		}
		events = append(events, e)
	}
	if fx.WouldRefuse != reply.Admitted { // after a change, as their numbers say
		refused.Seq, refused.Reason = fx.Seq, Reason(fx.WouldRefuse)
		events = append(events, refused)
	}
	conf.tell(events...)
}

// tell calls the hook with each event. If it panics, it gets the other events before the panic
// continues.
func (c *config) tell(events ...Event) {
	told := 0
	defer func() {
		if told < len(events) {
			c.tell(events[told:]...)
		}
	}()
	for _, e := range events {
		told++
		c.onEvent(e)
	}
}

// tellRefusal reports work that was refused, if there is a hook.
func (c *config) tellRefusal(no refusal) {
	if c.onEvent == nil {
		return
	}
	c.tell(Event{
		Seq: no.seq, At: time.Now(), Limiter: c.name, Kind: Refused,
		Reason: Reason(no.verdict), RetryAfter: time.Duration(no.retryAfter),
	})
}

func publicChange(c admit.Change) Change {
	return Change{At: wallTime(c.At), From: c.From, To: c.To, Reason: c.Reason}
}

// wallTime converts a reading of the limiters' clock.
func wallTime(at int64) time.Time { return time.Now().Add(time.Duration(at - now())) }
