package weir_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

func TestUnreserveFreesSlotsForWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := weir.NewGroup(3)
		if err != nil {
			t.Fatal(err)
		}
		c := weir.Config{Max: 5, Law: law.Fixed{}, Queue: weir.Queue{Size: 5, Timeout: time.Minute}}
		owner, err := g.New(c, weir.Stake{Reserved: 2})
		if err != nil {
			t.Fatal(err)
		}
		other, err := g.New(c, weir.Stake{})
		if err != nil {
			t.Fatal(err)
		}
		hold(t, other, 1)
		waiting := ask(t.Context(), other, 1)
		g.Unreserve(owner, 3) // has no more than two
		waits(t, waiting)
		g.Unreserve(owner, 1)
		admitted(t, waiting)
		if s := g.Snapshot(); s.Reserved != 1 || owner.Snapshot().Reserved != 1 {
			t.Errorf("%+v", s)
		}
		g.Unreserve(fixed(t, 1, weir.Queue{}), 0)
	})
}
