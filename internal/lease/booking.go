package lease

import (
	"slices"
	"time"

	"github.com/weir-go/weir/law"
)

// A booking is the state of one member, as far as the allocator knows it.
type booking struct {
	id       string
	since    time.Duration // when this allocator first heard of it
	heard    time.Duration // when this allocator last heard of it
	want     Want
	promised bool  // whether the want is of this epoch
	past     int   // the largest Keep of its grants of earlier epochs
	grants   []own // of this epoch: the last grant, and earlier grants that are open
	share    int   // the slots that it should have now
	target   int   // the slots that it should have once there is room
	occupied int   // the slots that it may hold or run

	report   law.Report    // the last report
	reported time.Duration // when the report came, 0 if none did
	about    time.Duration // Want.Sent of that want, 0 if the report is too old
	advice   *law.Advice   // nil if no member reports
}

// own is a grant that this allocator wrote, with the time of the write.
type own struct {
	Grant
	at time.Duration
}

// last returns the last grant, or the zero value.
func (b *booking) last() own {
	if len(b.grants) == 0 {
		return own{}
	}
	return b.grants[len(b.grants)-1]
}

// hear takes a want, unless a later one came before it.
func (b *booking) hear(now time.Duration, e Epoch, w Want) {
	if w.Sent <= b.want.Sent {
		return
	}
	b.want, b.heard, b.promised = w, now, w.Epoch == e
	if w.Report != nil {
		b.report, b.reported, b.about = *w.Report, now, w.Sent
	}
	if b.promised {
		newest := b.last().Number
		b.grants = slices.DeleteFunc(b.grants, func(g own) bool { return !b.open(g) && g.Number != newest })
	}
}

// open reports whether the member may still apply a grant, or may have applied it after its last
// want. The end of the lease is compared with the member's own stamps.
func (b *booking) open(g own) bool {
	return g.Number > b.want.Applied && g.Answers+g.TTL > b.want.Sent
}

// until returns the time from which the member can neither hold granted slots nor run work of them.
func (b *booking) until(c Config) time.Duration {
	return max(b.heard, b.last().at) + drift(c.TTL+c.Grace)
}

// occupies returns the largest number of slots that the member may hold or run now.
func (b *booking) occupies(now time.Duration, a *allocator, equal int) int {
	most, keep := max(b.want.Held, b.want.Running), b.want.Keep
	for _, g := range b.grants {
		if b.open(g) {
			most, keep = max(most, g.Share), max(keep, g.Keep)
		}
	}
	switch {
	case b.want.Refuse:
		keep = 0
	case !b.promised:
		keep = max(keep, b.past, equal) // its last grants may be lost
	}
	if b.promised && now >= b.until(a.conf) || !b.promised && now >= a.settled {
		return keep
	}
	return most
}

// due reports whether to write a grant: if the share has changed, and before the lease ends. It is
// due sooner while the last grant may be lost.
func (b *booking) due(now time.Duration, c Config) bool {
	last := b.last()
	if last.Number == 0 || b.share != last.Share {
		return true
	}
	if last.Number > b.want.Applied {
		wait := c.Refresh / 2
		if b.reported > 0 && b.want.Held == last.Share { // only advice is open, and the next report brings more
			wait = 2 * c.Refresh
		}
		return now >= last.at+wait
	}
	return b.want.Sent > last.Answers && now >= last.at+c.TTL/5 || b.reported > last.at
}

func (b *booking) grant(now time.Duration, a *allocator, equal, members int) Write {
	g := Grant{
		Epoch: a.epoch, Number: a.number, Answers: b.want.Sent, TTL: a.conf.TTL,
		Share: b.share, Keep: min(b.share, equal), Members: members,
		Advice: b.advice, About: b.about,
	}
	b.grants = append(b.grants, own{g, now})
	return Write{Key: GrantPrefix + b.id, Value: encode(g)}
}
