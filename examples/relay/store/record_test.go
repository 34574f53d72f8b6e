package store

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/internal/must"
)

var (
	zeros = strings.Repeat("0", 128)
	ones  = strings.Repeat("1", 128)
)

var records = []nostr.Event{
	{ID: zeros[:64], PubKey: zeros[:64], Sig: zeros},
	{ID: zeros[:64], PubKey: ones[:64], Sig: ones, CreatedAt: 1_700_000_000, Kind: 65535, Content: "text\x00\xff"},
	{ID: ones[:64], PubKey: ones[:64], Sig: zeros, CreatedAt: math.MinInt64, Tags: nostr.Tags{
		{"e", strings.Repeat("0a", 32)}, {"e", strings.Repeat("0A", 32)}, {"e", strings.Repeat("0g", 32)}, {""}, {"p", "", strings.Repeat("x", 300)},
	}},
	{ID: zeros[:64], PubKey: zeros[:64], Sig: zeros, CreatedAt: math.MaxInt64, Tags: nostr.Tags{{}}, Content: strings.Repeat("x", 1<<16)},
}

func TestRecords(t *testing.T) {
	for _, want := range records {
		got, err := decode(stampOf(&want), recordOf(&want))
		for i := range got.Tags {
			if len(got.Tags[i]) == 0 {
				got.Tags[i] = nostr.Tag{}
			}
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
	}
	record := recordOf(&records[2])
	for n := range record {
		if got, err := decode(stamp{}, record[:n]); !errors.Is(err, ErrCorrupt) {
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

func FuzzDecode(f *testing.F) {
	for _, e := range records {
		f.Add(recordOf(&e))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		e, err := decode(stamp{}, record)
		if err != nil {
			return
		}
		again, err := decode(stamp{}, recordOf(&e))
		if err != nil || !reflect.DeepEqual(again, e) {
			t.Errorf("%+v became %+v, %v", e, again, err)
		}
	})
}

func TestFullDiskIsForeseen(t *testing.T) {
	s := must.Have(Open(Options{Dir: t.TempDir()}))(t)
	defer s.Close()
	was := s.conf.MemTableSize
	s.conf.MemTableSize = 1 << 55 // more than any disk holds
	if outcome, err := s.Save(t.Context(), &records[1]); outcome != 0 || !errors.Is(err, ErrFull) {
		t.Errorf("%v, %v, want ErrFull", outcome, err)
	}
	s.conf.MemTableSize = was
	if outcome, err := s.Save(t.Context(), &records[1]); outcome != Saved || err != nil {
		t.Errorf("%v, %v", outcome, err)
	}
}
