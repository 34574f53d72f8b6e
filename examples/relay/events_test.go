package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/internal/must"
)

// A generator makes notes, reactions and contact lists of a few authors.
type generator struct {
	secrets, keys []string // of the authors
	made          int
	last          nostr.Event
}

func newGenerator(authors int) *generator {
	g := new(generator)
	for range authors {
		secret := nostr.GeneratePrivateKey()
		key, err := nostr.GetPublicKey(secret)
		if err != nil {
			panic(err) // of a secret that was just made
		}
		g.secrets, g.keys = append(g.secrets, secret), append(g.keys, key)
	}
	return g
}

// unsigned returns the next event with a signature of zeros: signing takes most of the time.
func (g *generator) unsigned() nostr.Event {
	g.made++
	g.last = g.draft(g.keys[rand.IntN(len(g.keys))])
	g.last.ID, g.last.Sig = g.last.GetID(), strings.Repeat("0", 128)
	return g.last
}

// signed returns the next event.
func (g *generator) signed(t *testing.T) nostr.Event {
	t.Helper()
	g.made++
	e := g.draft("")
	must.Do(t, e.Sign(g.secrets[rand.IntN(len(g.secrets))]))
	g.last = e
	return e
}

func (g *generator) draft(author string) nostr.Event {
	e := nostr.Event{PubKey: author, CreatedAt: nostr.Timestamp(1_700_000_000 + g.made), Kind: 1}
	e.Content = fmt.Sprint(g.made, strings.Repeat(" word", 1+rand.IntN(60)))
	switch n := rand.IntN(20); {
	case n == 0:
		e.Kind = 3
		for _, key := range g.keys[:min(len(g.keys), 200)] {
			e.Tags = append(e.Tags, nostr.Tag{"p", key})
		}
	case n < 8 && g.last.ID != "":
		e.Kind = 7
		e.Tags = nostr.Tags{{"e", g.last.ID}, {"p", g.last.PubKey}}
	}
	return e
}
