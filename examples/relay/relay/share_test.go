package relay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/memory"
)

// governorOf returns a governor that keeps at most the given bytes; its target is eight
// times as large.
func governorOf(t interface {
	Fatal(args ...any)
	Cleanup(func())
}, kept uint64,
) *memory.Governor {
	g, err := memory.New(memory.Config{Target: 8 * kept})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

const fewBytes = 2 << 20 // the minimum that a governor keeps

// After any takes of several connections, each has the bytes that it took, the governor has
// the bytes beyond their own, and no take that fits is refused.
func TestSharesAgainstSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := governorOf(t, fewBytes)
		shares := make([]share, 5)
		taken := make([][]int, len(shares))
		for i := range shares {
			shares[i] = share{own: ownOutbox, keep: g.TryAcquireKept}
		}
		sum := func(of []int) (sum int) {
			for _, n := range of {
				sum += n
			}
			return sum
		}
		quanta := func(bytes int) int { return (max(bytes-ownOutbox, 0) + quantum - 1) / quantum * quantum }
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				i, n := rapid.IntRange(0, len(shares)-1).Draw(t, "who"), rapid.IntRange(0, fewBytes/4).Draw(t, "bytes")
				before := sum(taken[i])
				fits := int(g.Snapshot().Kept)+quanta(before+n)-quanta(before) <= fewBytes
				if got := shares[i].take(n); got != fits {
					t.Fatalf("%d bytes beside %d: %v, want %v", n, before, got, fits)
				}
				if fits {
					taken[i] = append(taken[i], n)
				}
			},
			"give": func(t *rapid.T) {
				i := rapid.IntRange(0, len(shares)-1).Draw(t, "who")
				if last := len(taken[i]) - 1; last >= 0 {
					shares[i].give(taken[i][last])
					taken[i] = taken[i][:last]
				}
			},
			"": func(t *rapid.T) {
				want := 0
				for i := range shares {
					if shares[i].bytes != sum(taken[i]) {
						t.Fatalf("a share of %d bytes, want %d", shares[i].bytes, sum(taken[i]))
					}
					want += quanta(sum(taken[i]))
				}
				if kept := g.Snapshot().Kept; kept != uint64(want) {
					t.Fatalf("the governor keeps %d, want %d", kept, want)
				}
			},
		})
		g.Close()
	})
}

// After any use of outboxes, their bytes are the sum of the queued, sent and reserved bytes;
// the answers of each are within its limit; and the governor keeps no more than it may.
func TestOutboxesAgainstSums(t *testing.T) {
	const limit = 64 << 10
	ended, end := context.WithCancel(context.Background())
	end()
	rapid.Check(t, func(t *rapid.T) {
		g := governorOf(t, fewBytes)
		boxes := make([]*outbox, 40) // the sum of their limits is more than the governor keeps
		reserved := make([][]int, len(boxes))
		sending := make([]*[]byte, len(boxes))
		for i := range boxes {
			boxes[i] = &outbox{limit: limit, memory: share{own: ownOutbox, keep: g.TryAcquireKept}}
		}
		which := rapid.IntRange(0, len(boxes)-1)
		text := func(t *rapid.T, most int) []byte { return make([]byte, rapid.IntRange(0, most).Draw(t, "bytes")) }
		t.Repeat(map[string]func(*rapid.T){
			"fill up": func(t *rapid.T) {
				for i, o := range boxes {
					for o.take(limit/4, limit/2) {
						reserved[i] = append(reserved[i], limit/4)
					}
				}
			},
			"reserve": func(t *rapid.T) {
				i := which.Draw(t, "who")
				if boxes[i].take(limit/4, limit/2) {
					reserved[i] = append(reserved[i], limit/4)
				} else if boxes[i].force(leastSlice) {
					reserved[i] = append(reserved[i], leastSlice)
				}
			},
			"fill": func(t *rapid.T) {
				i := which.Draw(t, "who")
				last := len(reserved[i]) - 1
				if last < 0 {
					return
				}
				n := reserved[i][last]
				reserved[i] = reserved[i][:last]
				if rapid.Bool().Draw(t, "failed") {
					boxes[i].release(n)
					return
				}
				if err := boxes[i].fill([][]byte{text(t, n), text(t, n)}, n); err != nil && !errors.Is(err, errNoMemory) {
					t.Fatal(err)
				}
			},
			"offer": func(t *rapid.T) {
				o := boxes[which.Draw(t, "who")]
				before := o.memory.bytes
				message := text(t, 3000)
				if o.offer(message) != (o.memory.bytes == before+sizeOf(message)) {
					t.Fatal("an offer was not what it said")
				}
			},
			"send": func(t *rapid.T) {
				i := which.Draw(t, "who")
				if m := sending[i]; m != nil {
					boxes[i].release(sizeOf(*m))
					sending[i] = nil
				} else if m, err := boxes[i].next(ended); err == nil {
					sending[i] = &m
				}
			},
			"": func(t *rapid.T) {
				for i, o := range boxes {
					want := 0
					for _, m := range o.queue {
						want += sizeOf(m)
					}
					for _, n := range reserved[i] {
						want += n
					}
					if m := sending[i]; m != nil {
						want += sizeOf(*m)
					}
					if o.memory.bytes != want || want > 2*limit {
						t.Fatalf("%d bytes are taken, want %d", o.memory.bytes, want)
					}
				}
				if kept := g.Snapshot().Kept; kept > fewBytes {
					t.Fatalf("the governor keeps %d", kept)
				}
			},
		})
		for _, o := range boxes {
			o.discard()
			if o.memory.bytes != 0 {
				t.Fatalf("%d bytes are left of no connection", o.memory.bytes)
			}
		}
		if kept := g.Snapshot().Kept; kept != 0 {
			t.Fatalf("the governor keeps %d for no connection", kept)
		}
		g.Close()
	})
}

// A connection that reads gets its answers in small slices while others, which do not read,
// have filled the memory. An event without room is refused.
func TestConnectionsThatDoNotReadLeaveOthersTheirOwn(t *testing.T) {
	g := governorOf(t, fewBytes)
	for range 100 {
		o := &outbox{limit: mostUnsent, memory: share{own: ownOutbox, keep: g.TryAcquireKept}}
		for o.take(sliceBytes, mostUnsent/2) { // until it refuses
		}
	}
	if kept := g.Snapshot().Kept; kept > fewBytes || kept < fewBytes-sliceBytes {
		t.Fatalf("the governor keeps %d, want it full at %d", kept, fewBytes)
	}
	o := &outbox{limit: mostUnsent, memory: share{own: ownOutbox, keep: g.TryAcquireKept}}
	n, err := o.reserve(t.Context())
	if err != nil || n != leastSlice {
		t.Fatalf("reserved %d, %v, want %d", n, err, leastSlice)
	}
	must.Do(t, o.fill([][]byte{bytes.Repeat([]byte("x"), leastSlice)}, n))
	m := must.Have(o.next(t.Context()))(t)
	o.release(sizeOf(m))
	if n, err = o.reserve(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := o.fill([][]byte{make([]byte, 100<<10)}, n); !errors.Is(err, errNoMemory) || o.memory.bytes != 0 {
		t.Errorf("an event of 100 KiB: %v, and %d bytes are taken", err, o.memory.bytes)
	}
	if o.offer(make([]byte, 100<<10)) {
		t.Error("a live event of 100 KiB has room")
	}
	if !o.offer(make([]byte, 1<<10)) {
		t.Error("a live event of 1 KiB has no room in an empty outbox")
	}
}

// A message is read unchanged, into memory taken from the share; a message that does not fit
// takes none.
func TestMessagesAreReadInMemoryThatIsTaken(t *testing.T) {
	g := governorOf(t, fewBytes)
	for _, size := range []int{0, 1, leastMessage, leastMessage + 1, 3000, 100_000, fewBytes / 2} {
		s := share{own: ownIncoming, keep: g.TryAcquireKept}
		want := bytes.Repeat([]byte("x"), size)
		got, err := s.read(iotest.OneByteReader(bytes.NewReader(want)))
		if err != nil || !bytes.Equal(got, want) || s.bytes != cap(got) {
			t.Errorf("%d bytes: %d, %v, and %d of %d are taken", size, len(got), err, s.bytes, cap(got))
		}
		s.give(cap(got))
		if s.bytes != 0 || g.Snapshot().Kept != 0 {
			t.Errorf("%d bytes: %d are left, %d with the governor", size, s.bytes, g.Snapshot().Kept)
		}
	}
	s := share{own: ownIncoming, keep: g.TryAcquireKept}
	if _, err := s.read(bytes.NewReader(make([]byte, fewBytes+ownIncoming+1))); !errors.Is(err, errNoMemory) || s.bytes != 0 {
		t.Errorf("more than there is: %v, and %d are taken", err, s.bytes)
	}
	failed := errors.New("failed")
	if _, err := s.read(io.MultiReader(strings.NewReader("half"), iotest.ErrReader(failed))); !errors.Is(err, failed) || s.bytes != 0 {
		t.Errorf("a reader that fails: %v, and %d are taken", err, s.bytes)
	}
}
