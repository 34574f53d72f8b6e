package weir

import (
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

// after carries out the effects of a call into the core, without its lock.
func (l *Limiter) after(fx *admit.Effects) {
	if !fx.None() {
		l.finish(fx, reply.Ticket{})
	}
}

// finish is after for a call that admitted work: if a law or a hook panics, it gives the ticket
// back, because the caller does not get it.
func (l *Limiter) finish(fx *admit.Effects, ticket reply.Ticket) {
	fx.Woken.Wake()
	if !fx.Notable {
		return
	}
	reported := false
	defer func() {
		if !reported {
			var rest admit.Effects
			l.node.Done(ticket, now(), window.Ignore, &rest)
			rest.Woken.Wake()
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
	for _, lapse := range fx.Lapsed {
		conf.tell(Event{Seq: lapse.Seq, At: time.Now(), Kind: WouldRefuse, Reason: Reason(lapse.Why)})
	}
	if c := fx.Change; c != nil {
		e := Event{Seq: c.Seq, At: wallTime(c.At), Kind: LimitChanged, Change: publicChange(*c)}
		if fx.Replaced {
			e.Kind = LawReplaced
		}
		conf.tell(e)
	}
	if why := fx.WouldRefuse; why != reply.Admitted { // after a change, as their numbers say
		conf.tell(Event{Seq: fx.Seq, At: time.Now(), Kind: WouldRefuse, Reason: Reason(why)})
	}
}

// tellRefusal reports work that was refused, if there is a hook.
func (c *config) tellRefusal(no refusal) {
	if c.onEvent == nil {
		return
	}
	c.tell(Event{
		Seq: no.seq, At: time.Now(), Kind: Refused,
		Reason: Reason(no.verdict), RetryAfter: time.Duration(no.retryAfter),
	})
}

// tell calls the hook with an event. An event without a number happened before an update brought
// the hook.
func (c *config) tell(e Event) {
	if e.Seq > 0 {
		e.Limiter = c.name
		c.onEvent(e)
	}
}

func publicChange(c admit.Change) Change {
	return Change{At: wallTime(c.At), From: c.From, To: c.To, Reason: c.Reason}
}

// wallTime converts a reading of the limiters' clock to wall time.
func wallTime(at int64) time.Time { return time.Now().Add(time.Duration(at - now())) }
