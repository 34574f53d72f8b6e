package store

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/weir-go/weir/examples/relay/nostr"
)

var records = []nostr.Event{
	{},
	{ID: nostr.ID{1}, PubKey: nostr.PubKey{2}, Sig: [64]byte{63: 3}, CreatedAt: 1_700_000_000, Kind: 65535, Content: "text\x00\xff"},
	{CreatedAt: math.MinInt64, Tags: []nostr.Tag{{"e", strings.Repeat("0a", 32)}, {"e", strings.Repeat("0A", 32)}, {"e", strings.Repeat("0g", 32)}, {""}, {"p", "", strings.Repeat("x", 300)}}},
	{CreatedAt: math.MaxInt64, Tags: []nostr.Tag{{}}, Content: strings.Repeat("x", 1<<16)},
}

func TestRecordsHoldAll(t *testing.T) {
	for _, want := range records {
		got, err := decode(stampOf(want.CreatedAt, want.ID), recordOf(&want))
		for i := range got.Tags {
			if len(got.Tags[i]) == 0 {
				got.Tags[i] = nostr.Tag{}
			}
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
	}
}

func TestCutRecords(t *testing.T) {
	e := records[2]
	record := recordOf(&e)
	for n := range record {
		if got, err := decode(stamp{}, record[:n]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("the first %d bytes: %+v, %v", n, got, err)
		}
	}
}

func TestStampsAreNewestFirst(t *testing.T) {
	var last stamp
	for i, created := range []int64{math.MaxInt64, 1 << 40, 1, 0, -1, math.MinInt64} {
		for _, id := range []nostr.ID{{1}, {2}} {
			s := stampOf(created, id)
			if i > 0 && !last.before(s) || s.created() != created || s.id() != id {
				t.Errorf("%d, %v: %x after %x is %d, %v", created, id, s, last, s.created(), s.id())
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
	s, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	was := s.conf.MemTableSize
	s.conf.MemTableSize = 1 << 55 // more than any disk holds
	if outcome, err := s.Save(t.Context(), &nostr.Event{Kind: 1}); outcome != 0 || !errors.Is(err, ErrFull) {
		t.Errorf("%v, %v, want ErrFull", outcome, err)
	}
	s.conf.MemTableSize = was
	if outcome, err := s.Save(t.Context(), &nostr.Event{Kind: 1}); outcome != Saved || err != nil {
		t.Errorf("%v, %v", outcome, err)
	}
}
