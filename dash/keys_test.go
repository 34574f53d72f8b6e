package dash_test

import (
	"context"
	"testing"

	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/internal/must"
)

func TestOverflowIsShownOnceItHadWork(t *testing.T) {
	set := must.Have(bulkhead.New(bulkhead.Config{MaxKeys: 1}))(t)
	read := dash.Keys(set)
	if got := read(); len(got) != 0 {
		t.Errorf("at first: %v", got)
	}
	_ = set.Do(t.Context(), "a", func(context.Context) error {
		return set.Do(t.Context(), "b", func(context.Context) error { return nil })
	})
	names := map[string]bool{}
	for _, snap := range read() {
		names[snap.Name] = true
	}
	if len(names) != 2 || !names["a"] || !names[bulkhead.Overflow] {
		t.Errorf("shows %v", names)
	}
}
