package fleet_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/internal/lease"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/together"
)

// disturb brings an entry that the member that allocates reports.
func (p *party) disturb() {
	p.t.Helper()
	must.Do(p.t, p.store.Write(p.t.Context(), fleet.Write{Key: lease.WantPrefix + "x", Value: []byte("{")}))
}

// A member that waited for its OnError would keep its share after its lease, and the others would
// run above the cap.
func TestOnErrorStands(t *testing.T) {
	c := quick
	c.Fallback = fleet.Refuse
	meet(t, c, 0, func(t *testing.T, p *party) {
		stands := make(chan struct{})
		var called atomic.Bool
		p.conf.OnError = func(error) {
			if called.CompareAndSwap(false, true) {
				<-stands
			}
		}
		defer close(stands)
		p.join()
		p.join()
		p.live(10*time.Second, 50, 50)
		p.disturb()
		p.live(20*time.Second, 50, 50)
		if s := p.shares(); s[0]+s[1] != 30 || !called.Load() {
			t.Errorf("shares of %v of a cap of 30", s)
		}
	})
}

// OnError may leave the fleet.
func TestOnErrorLeaves(t *testing.T) {
	meet(t, quick, 0, func(t *testing.T, p *party) {
		var a *app
		left := make(chan error, 1)
		a = p.join(func(c *fleet.Config) { c.OnError = func(error) { left <- a.Leave(context.Background()) } })
		p.live(5*time.Second, 5)
		p.disturb()
		time.Sleep(time.Second)
		if len(left) == 0 {
			t.Fatal("Leave does not return in OnError")
		}
		if err := <-left; err != nil {
			t.Error(err)
		}
	})
}

// Several goroutines may call Leave.
func TestLeaveAtOnce(t *testing.T) {
	meet(t, quick, 1, func(t *testing.T, p *party) {
		p.live(5*time.Second, 5)
		together.Do(2, func(int) {
			if err := p.apps[0].Leave(t.Context()); err != nil {
				t.Error(err)
			}
		})
		if _, err := p.apps[0].lim.TryAcquire(t.Context()); err == nil {
			t.Error("work starts after the share was given back")
		}
		if s := p.apps[0].Snapshot(); s.Share != 0 || s.Leased || s.Leads {
			t.Errorf("%+v after the share was given back", s)
		}
	})
}

// An OnError that panics ends neither the process nor the member, and Leave reports it.
func TestOnErrorFails(t *testing.T) {
	for want, fail := range map[string]func(error){
		"OnError panicked: boom":      func(error) { panic("boom") },
		"OnError ended its goroutine": func(error) { runtime.Goexit() },
	} {
		meet(t, quick, 0, func(t *testing.T, p *party) {
			a := p.join(func(c *fleet.Config) { c.OnError = fail })
			p.live(5*time.Second, 5)
			p.disturb()
			p.live(5*time.Second, 5)
			if s := a.Snapshot(); !s.Leased || s.Share == 0 {
				t.Errorf("%+v: want a lease", s)
			}
			if err := p.drop(a); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Leave returned %v, want %q", err, want)
			}
		})
	}
}

// A directory is a DNS server with a number of processes for any name, or with an error. Each
// process has an address of each network.
type directory struct {
	n        int
	networks []string
	err      error
}

func (d *directory) LookupHost(context.Context, string) (hosts []string, err error) {
	for _, network := range d.networks {
		for i := range d.n {
			hosts = append(hosts, network+strconv.Itoa(i))
		}
	}
	return hosts, d.err
}

func TestCounter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := directory{networks: []string{"10.0.0."}}
		down := errors.New("no answer")
		c := fleet.Counter{Host: "search", Resolver: &d}
		for _, s := range []struct {
			after time.Duration
			n     int
			err   error
			want  int
		}{
			{0, 0, down, 1},
			{0, 3, nil, 3},
			{time.Minute, 2, nil, 3},
			{0, 0, down, 3},
			{time.Minute, 4, nil, 4},
			{4 * time.Minute, 2, nil, 4},
			{2 * time.Minute, 2, nil, 2},
			{time.Hour, 0, down, 2},
			{0, 5, nil, 5},
			{4 * time.Minute, 4, nil, 5},
			{2 * time.Minute, 1, nil, 4}, // of which DNS forgets three
		} {
			time.Sleep(s.after)
			d.n, d.err = s.n, s.err
			if got, err := c.Count(t.Context()); got != s.want || !errors.Is(err, s.err) {
				t.Errorf("%d, %v with %d addresses, want %d", got, err, s.n, s.want)
			}
		}
	})
	for _, networks := range [][]string{{"10.0.0.", "fd00::"}, {"fd00::"}, {"::ffff:10.0.0."}} {
		c := fleet.Counter{Host: "search", Resolver: &directory{n: 3, networks: networks}}
		if got, err := c.Count(t.Context()); got != 3 || err != nil {
			t.Errorf("%d, %v with three processes that each have an address of %q", got, err, networks)
		}
	}
}
