package gen

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/nbd-wtf/go-nostr"
)

const (
	start  = 1704067200 // 1 January 2024: a hundred million events later it is 2027
	jitter = 60         // seconds by which the clocks of clients differ, so that events are not in time order
	recent = 1024       // events that replies, reactions and deletions may refer to; more than occur within the jitter
)

// A Generator makes events. It is not safe for concurrent use.
type Generator struct {
	random  *rand.Rand
	seed    uint64
	authors []*author // each is nil until its first event
	now     nostr.Timestamp
	events  []draft // the recent ones
	oldest  int     // index of the oldest event, when the ring is full
}

type author struct {
	secret *btcec.PrivateKey
	key    string
}

// A draft is an event without its signature.
type draft struct {
	nostr.Event
	by *author
}

// New returns a Generator. It has at least one author; some authors are far more active than
// others.
func New(seed uint64, authors int) *Generator {
	return &Generator{
		random:  rand.New(rand.NewPCG(seed, 0)),
		seed:    seed,
		authors: make([]*author, max(1, authors)),
		now:     start,
	}
}

// Next returns the next event.
func (g *Generator) Next() nostr.Event {
	d := g.draft()
	d.sign()
	return d.Event
}

// Unsigned returns the next event with a signature of zeros, because a genuine one takes nearly
// all of the time. It is for a store, which verifies nothing.
func (g *Generator) Unsigned() nostr.Event {
	d := g.draft()
	d.Sig = strings.Repeat("0", 128)
	return d.Event
}

// draft makes a new event, complete except for the signature. It takes little time.
func (g *Generator) draft() draft {
	g.now += nostr.Timestamp(g.random.Int64N(3))
	for {
		d := draft{by: g.author()}
		d.CreatedAt = g.now - nostr.Timestamp(g.random.Int64N(jitter))
		g.fill(&d)
		d.PubKey = d.by.key
		d.ID = d.GetID()
		if !slices.ContainsFunc(g.events, func(other draft) bool { return other.ID == d.ID }) {
			g.remember(d)
			return d
		}
	}
}

// remember keeps the parts that later events refer to, without tags and content.
func (g *Generator) remember(d draft) {
	d.Tags, d.Content = nil, ""
	if len(g.events) < recent {
		g.events = append(g.events, d)
		return
	}
	g.events[g.oldest] = d
	g.oldest = (g.oldest + 1) % recent
}

// sign signs the event, which takes nearly all of the time to make it. The same event always
// has the same signature.
func (d *draft) sign() {
	// FastSign does not verify the signature; a test does.
	id, _ := hex.DecodeString(d.ID)
	signature, err := schnorr.Sign(d.by.secret, id, schnorr.FastSign())
	if err != nil {
		panic(err) // only for a secret of zero, or a hash of another length
	}
	d.Sig = hex.EncodeToString(signature.Serialize())
}

// author returns a random author: lower numbers are more frequent.
func (g *Generator) author() *author {
	n := uint64(len(g.authors))
	x := g.random.Uint64N(1 << 20)
	x = x * x >> 20
	x = x * x >> 20 // the fourth power: a sixteenth of the authors make half of the events
	return g.numbered(int(x * n >> 20))
}

func (g *Generator) numbered(i int) *author {
	if g.authors[i] == nil {
		text := binary.BigEndian.AppendUint64([]byte("author"), g.seed)
		hash := sha256.Sum256(binary.BigEndian.AppendUint64(text, uint64(i)))
		secret, public := btcec.PrivKeyFromBytes(hash[:])
		g.authors[i] = &author{secret: secret, key: hex.EncodeToString(schnorr.SerializePubKey(public))}
	}
	return g.authors[i]
}
