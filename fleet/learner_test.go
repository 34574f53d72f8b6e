package fleet_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/fleet/storetest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// A crew is a fleet whose members learn together. Each sends work every 2.5 ms to one downstream
// with ten workers, which take 20 ms.
type crew struct {
	t       *testing.T
	store   *storetest.Memory
	workers chan bool
	limits  []*weir.Limiter
	members []*fleet.Member
	done    atomic.Int64
}

func (c *crew) join() {
	c.t.Helper()
	learner := fleet.Learn(law.Setpoint{})
	lim := weir.Must(weir.New(weir.Config{Law: learner}))
	m := must.Have(fleet.Join(fleet.Config{
		Store: c.store, Actuator: fleet.Limiter(lim), Learner: learner, ID: fmt.Sprintf("m%d", len(c.members)),
		Cap: 1000, Fallback: fleet.Local, Refresh: 200 * time.Millisecond, TTL: 2 * time.Second,
	}))(c.t)
	c.limits, c.members = append(c.limits, lim), append(c.members, m)
}

// live sends work, and returns how much was done in a second.
func (c *crew) live(d time.Duration) float64 {
	before := c.done.Load()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(2500 * time.Microsecond) {
		for _, lim := range c.limits {
			permit, err := lim.TryAcquire(c.t.Context())
			if err != nil {
				continue
			}
			go func() {
				c.workers <- true
				time.Sleep(20 * time.Millisecond)
				<-c.workers
				c.done.Add(1)
				permit.Done(nil)
			}()
		}
	}
	return float64(c.done.Load()-before) / d.Seconds()
}

func (c *crew) leave() {
	for i, m := range c.members {
		ctx, cancel := context.WithTimeout(c.t.Context(), time.Second)
		_ = c.limits[i].Shutdown(ctx)
		_ = m.Leave(ctx)
		cancel()
	}
}

// A finding is the knowledge of a limiter. Its limit is another one while it probes.
type finding struct {
	Limit  int           `json:"limit"`
	NoLoad time.Duration `json:"no_load_ns"`
}

func (c *crew) findings() (all []finding) {
	for _, lim := range c.limits {
		var f finding
		must.Do(c.t, json.Unmarshal(lim.Save(), &f))
		all = append(all, f)
	}
	return all
}

// keepsItsKnowledge updates a limiter, and restores its state in another one.
func (c *crew) keepsItsKnowledge() {
	c.t.Helper()
	lim, before := c.limits[0], c.findings()[0]
	if err := lim.Update(lim.Config()); err != nil || c.findings()[0] != before {
		c.t.Errorf("%v; after an update %+v: want %+v", err, c.findings()[0], before)
	}
	state := lim.Save()
	for _, l := range []law.Law{law.Setpoint{}, fleet.Learn(law.Setpoint{})} {
		next := weir.Must(weir.New(weir.Config{Law: l}))
		if err := next.Restore(state); err != nil || next.Snapshot().Limit != before.Limit {
			c.t.Errorf("%v; after a restart a limit of %d: want %d", err, next.Snapshot().Limit, before.Limit)
		}
		state = next.Save() // so that the learner continues from the law alone
	}
}

// A member that joins others in an overload sees no latency without load, and learns it from them.
// Without the store all continue from where they are.
func TestMembersLearnTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crew{t: t, store: storetest.NewMemory(), workers: make(chan bool, 10)}
		defer c.leave()
		for range 4 {
			c.join()
		}
		c.live(13 * time.Second)
		c.join()
		c.live(2 * time.Second)
		for i, found := range c.findings() {
			if found.NoLoad < 15*time.Millisecond || found.NoLoad > 30*time.Millisecond {
				t.Errorf("member %d has a latency without load of %v: want 20 ms, or some more", i, found.NoLoad)
			}
		}
		c.live(8 * time.Second)
		for i, found := range c.findings() {
			if found.Limit < 2 || found.Limit > 7 {
				t.Errorf("member %d has a limit of %d: want an equal part of 10 to 25", i, found.Limit)
			}
		}
		c.keepsItsKnowledge()
		c.store.Fail(true)
		if rate := c.live(10 * time.Second); rate < 450 {
			t.Errorf("%.0f a second without the store: want 450 to 500", rate)
		}
	})
}

// A limiter that gets another learner starts anew with it: the reports would go to the former one.
func TestAnotherLearner(t *testing.T) {
	learner := fleet.Learn(law.Setpoint{})
	c := must.Have(learner.Controller(law.Bounds{Min: 1, Max: 100, Initial: 2}))(t).(law.Retuner)
	if !c.Retune(learner) || c.Retune(fleet.Learn(law.Setpoint{})) || c.Retune(law.Setpoint{}) {
		t.Error("it takes the settings of another learner, or not its own")
	}
}

// The need is the work that runs and waits, and twice the share while work is refused, unless the
// limit is below the share. It falls slowly.
func TestNeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := weir.Must(weir.New(weir.Config{Law: law.Fixed{Limit: 20}, Queue: weir.Queue{Size: 1, Timeout: time.Hour}}))
		a := fleet.Limiter(lim)
		needs := func(want int, text string) {
			t.Helper()
			if _, need := a.Load(); need != want {
				t.Errorf("a need of %d %s: want %d", need, text, want)
			}
		}
		must.Do(t, a.SetShare(1))
		permit := must.Have(lim.Acquire(t.Context()))(t)
		go func() { must.Have(lim.Acquire(t.Context()))(t).Done(nil) }()
		synctest.Wait()
		needs(2, "with one that waits")
		must.Do(t, a.SetShare(10))
		synctest.Wait()
		permit.Done(nil)
		needs(1, "a moment after the work")
		must.Do(t, a.SetShare(0))
		_, _ = lim.TryAcquire(t.Context())
		needs(1, "of refused work, without a share")
		must.Do(t, a.SetShare(30))
		var held []weir.Permit
		for permit, err := lim.TryAcquire(t.Context()); err == nil; permit, err = lim.TryAcquire(t.Context()) {
			held = append(held, permit)
		}
		needs(20, "where the limiter's own law refuses")
		for _, permit := range held {
			permit.Done(nil)
		}
	})
}

func TestBadStates(t *testing.T) {
	store := storetest.NewMemory()
	for _, c := range []struct{ name, state, want string }{
		{"", "{}", `the name of the state is ""`},
		{"a.b", "{}", `the name of the state is "a.b"`},
		{"a", "", "the state of a has 0 bytes"},
		{"a", strings.Repeat("x", 512<<10+1), "the state of a has 524289 bytes"},
	} {
		err := fleet.SaveState(t.Context(), store, c.name, []byte(c.state))
		if !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	foreign := fleet.Write{Key: "state.a", Value: []byte(strings.Repeat("x", 512<<10+1))}
	must.Do(t, store.Write(t.Context(), foreign))
	if _, err := fleet.LoadState(t.Context(), store, "a"); !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), "has 524289 bytes") {
		t.Errorf("%v, want that it is too long", err)
	}
}

func TestStateWithoutAStore(t *testing.T) {
	store := storetest.NewMemory()
	store.Fail(true)
	if err := fleet.SaveState(t.Context(), store, "a", []byte("{}")); !errors.Is(err, storetest.ErrDown) {
		t.Errorf("%v, want %v", err, storetest.ErrDown)
	}
	if _, err := fleet.LoadState(t.Context(), store, "a"); !errors.Is(err, storetest.ErrDown) {
		t.Errorf("%v, want %v", err, storetest.ErrDown)
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	for _, store := range []fleet.Store{silent{}, silent{ends: true}} {
		if _, err := fleet.LoadState(gone, store, "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("%+v: %v, want %v", store, err, context.Canceled)
		}
	}
}

// silent is a store that shows nothing.
type silent struct {
	fleet.Store
	ends bool // the end of a context is no error
}

func (s silent) Watch(ctx context.Context, _ string, _ func(fleet.Entry)) error {
	<-ctx.Done()
	if s.ends {
		return nil
	}
	return ctx.Err()
}
