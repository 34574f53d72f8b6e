package bulkhead_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/law"
)

func TestConfigHasTheDefaults(t *testing.T) {
	usual := weir.Must(weir.New(weir.Config{})).Config()
	usual.Name = ""
	s := newSet(t, bulkhead.Config{Max: 50, ByKey: byKey{"search": {Reserved: 10}}})
	want := bulkhead.Config{
		Default: bulkhead.Compartment{Config: usual, Share: 1}, Max: 50, MaxKeys: 10_000,
		ByKey: byKey{"search": {Config: usual, Reserved: 10, Share: 1}},
	}
	if err := s.SetMax(20); err != nil {
		t.Fatal(err)
	}
	if got := s.Config(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// The set's additions for its keys are not in the configuration that is read, or they would be
// added again by an update with that.
func TestConfigGoesInAgain(t *testing.T) {
	heard := map[string]int{}
	hook := func(name string) func(weir.Event) { return func(weir.Event) { heard[name]++ } }
	slow, busy := fixed(4, 0, 0), fixed(4, 0, 0)
	slow.Config.Law, busy.Config.Law = law.Fixed{}, law.Fixed{}
	slow.Budget = 20 * time.Millisecond
	slow.Breaker = func(string) weir.Breaker { return nil }
	s := newSet(t, bulkhead.Config{
		Default: fixed(1, 0, 0), ByKey: byKey{"slow": slow, "busy": busy}, OnEvent: hook("first"),
	})

	c := s.Config()
	k := c.ByKey["slow"]
	if _, named := c.ByKey[bulkhead.Overflow]; named || len(c.ByKey) != 2 {
		t.Errorf("%v: want the keys that were named", c.ByKey)
	}
	if k.Config.Law != law.Law(law.Fixed{}) || k.Budget != slow.Budget || k.Config.OnEvent != nil || k.Breaker == nil ||
		c.OnEvent == nil {
		t.Errorf("%+v: want what was given", k)
	}
	busy = c.ByKey["busy"]
	delete(c.ByKey, "busy")
	if len(s.Config().ByKey) != 2 {
		t.Error("the map of the set was given away")
	}

	busy.Config.Initial = 6
	c.ByKey["busy"], c.OnEvent = busy, hook("second")
	c.Default.Config.Max, c.Default.Config.Initial = 2, 2
	if err := s.Update(c); err != nil {
		t.Fatal(err)
	}
	clear(heard)
	hold(t, s, "busy", 6) // law.Fixed{} follows Initial
	hold(t, s, bulkhead.Overflow, 2)
	for _, key := range []string{"busy", bulkhead.Overflow} {
		if _, ok := s.TryAcquire(t.Context(), key); ok {
			t.Errorf("%s has more than its slots", key)
		}
	}
	if heard["first"] != 0 || heard["second"] != 2 {
		t.Errorf("heard %v: want both refusals heard by the new hook", heard)
	}
}

func TestConfigThatWasRefusedIsNotAtWork(t *testing.T) {
	s := newSet(t, bulkhead.Config{MaxKeys: 5})
	if s.Update(bulkhead.Config{MaxKeys: 7, Max: 3}) == nil {
		t.Fatal("want an error")
	}
	if got := s.Config(); got.MaxKeys != 5 || got.Max != 0 {
		t.Errorf("%+v", got)
	}
}
