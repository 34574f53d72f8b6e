package gen

import (
	"strconv"

	"github.com/nbd-wtf/go-nostr"
)

// shares holds the number of events of each kind per thousand.
var shares = []struct {
	of   int
	fill func(*Generator, *draft)
}{
	{380, (*Generator).note},
	{230, (*Generator).reply},
	{350, (*Generator).reaction},
	{35, (*Generator).contacts},
	{5, (*Generator).article},
}

// fill makes a draft an event of a random kind.
func (g *Generator) fill(d *draft) {
	if len(g.events) == 0 {
		g.note(d) // the other kinds refer to an event
		return
	}
	pick := g.random.IntN(1000)
	for _, share := range shares {
		if pick -= share.of; pick < 0 {
			share.fill(g, d)
			return
		}
	}
}

func (g *Generator) note(d *draft) {
	d.Kind, d.Content = 1, g.text(g.between(3, 40))
	if g.random.IntN(10) == 0 {
		d.Content = g.text(g.between(100, 400))
	}
	if g.random.IntN(5) == 0 {
		d.Tags = append(d.Tags, nostr.Tag{"t", g.word()})
	}
}

func (g *Generator) reply(d *draft) {
	g.note(d)
	about := g.event()
	d.Tags = append(d.Tags, nostr.Tag{"e", about.ID, "wss://relay.example.com", "root"}, nostr.Tag{"p", about.PubKey})
}

var reactions = []string{"+", "+", "+", "-", "❤️", "🤙"}

func (g *Generator) reaction(d *draft) {
	about := g.event()
	d.Kind, d.Content = 7, reactions[g.random.IntN(len(reactions))]
	d.Tags = nostr.Tags{{"e", about.ID}, {"p", about.PubKey}, {"k", strconv.Itoa(about.Kind)}}
}

// contacts makes a list of authors: a few hundred, up to a thousand.
func (g *Generator) contacts(d *draft) {
	d.Kind = 3
	first := g.random.IntN(len(g.authors))
	for i := range min(g.between(10, 1000)*g.between(1, 1000)/1000+1, len(g.authors)) {
		d.Tags = append(d.Tags, nostr.Tag{"p", g.numbered((first + i) % len(g.authors)).key})
	}
}

// article makes a text of 10 to 30 KB, one of twenty of its author.
func (g *Generator) article(d *draft) {
	title := g.text(g.between(3, 8))
	d.Kind = 30023
	d.Tags = nostr.Tags{{"d", "article-" + strconv.Itoa(g.random.IntN(20))}, {"title", title}, {"t", g.word()}, {"t", g.word()}}
	d.Content = "# " + title + "\n"
	for size := g.between(10_000, 30_000-1000); len(d.Content) < size; {
		d.Content += "\n" + g.text(g.between(50, 120)) + "\n"
	}
}

// event returns a random recent event.
func (g *Generator) event() draft { return g.events[g.random.IntN(len(g.events))] }

func (g *Generator) between(low, high int) int { return low + g.random.IntN(high-low+1) }
