package store

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/internal/must"
)

var (
	zeros = strings.Repeat("0", 128)
	ones  = strings.Repeat("1", 128)
)

func TestStampsAreNewestFirst(t *testing.T) {
	var last stamp
	for i, created := range []nostr.Timestamp{math.MaxInt64, 1 << 40, 1, 0, -1, math.MinInt64} {
		for _, id := range []string{zeros[:64], ones[:64]} {
			s := stampOf(&nostr.Event{CreatedAt: created, ID: id})
			if i > 0 && !last.before(s) || s.created() != created {
				t.Errorf("%d, %s: %x after %x is of %d", created, id, s, last, s.created())
			}
			last = s
		}
	}
}

func TestFullDiskIsForeseen(t *testing.T) {
	s := must.Have(Open(Options{Dir: t.TempDir()}))(t)
	defer s.Close()
	e := nostr.Event{ID: zeros[:64], PubKey: ones[:64], Sig: ones, Kind: 1}
	was := s.conf.MemTableSize
	s.conf.MemTableSize = 1 << 55 // more than any disk holds
	if outcome, err := s.Save(t.Context(), &e); outcome != 0 || !errors.Is(err, ErrFull) {
		t.Errorf("%v, %v, want ErrFull", outcome, err)
	}
	s.conf.MemTableSize = was
	if outcome, err := s.Save(t.Context(), &e); outcome != Saved || err != nil {
		t.Errorf("%v, %v", outcome, err)
	}
}
