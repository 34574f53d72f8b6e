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

var record = nostr.Event{
	ID: ones[:64], PubKey: ones[:64], Sig: zeros, CreatedAt: math.MinInt64, Kind: 65535, Content: "text\x00\"<\u2028",
	Tags: nostr.Tags{{"e", strings.Repeat("0a", 32)}, {""}, {"p", "", strings.Repeat("x", 300)}, {}},
}

func TestRecords(t *testing.T) {
	text := recordOf(&record)
	got, err := decode(stampOf(&record), text)
	if err != nil || got.String() != record.String() {
		t.Errorf("got  %v, %v\nwant %v", got, err, record)
	}
	for n := range text {
		if got, err := decode(stamp{}, text[:n]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("the first %d bytes: %+v, %v", n, got, err)
		}
	}
}

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
	was := s.conf.MemTableSize
	s.conf.MemTableSize = 1 << 55 // more than any disk holds
	if outcome, err := s.Save(t.Context(), &record); outcome != 0 || !errors.Is(err, ErrFull) {
		t.Errorf("%v, %v, want ErrFull", outcome, err)
	}
	s.conf.MemTableSize = was
	if outcome, err := s.Save(t.Context(), &record); outcome != Saved || err != nil {
		t.Errorf("%v, %v", outcome, err)
	}
}
