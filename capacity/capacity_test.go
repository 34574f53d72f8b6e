package capacity_test

import (
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/together"
)

func slots(t *testing.T, limit int64) (*capacity.Capacity, func(units int64) *capacity.Request) {
	t.Helper()
	c := must.Have(capacity.New(capacity.Vector{"slots": limit}))(t)
	return c, func(units int64) *capacity.Request { return must.Have(c.Request(capacity.Vector{"slots": units}))(t) }
}

// go vet reports copies of a type that has a lock.
func TestCopiesAreReported(t *testing.T) {
	held := reflect.TypeFor[capacity.Capacity]().Field(0).Type
	if held.Kind() != reflect.Array || !reflect.PointerTo(held.Elem()).Implements(reflect.TypeFor[sync.Locker]()) {
		t.Errorf("%v is no lock", held)
	}
}

// A parent that an error of New left nil must not make a capacity that nothing bounds.
func TestChildOfNil(t *testing.T) {
	var c *capacity.Capacity
	defer func() {
		if recover() == nil {
			t.Error("nil has a child")
		}
	}()
	_, _ = c.Child(capacity.Vector{"slots": 1})
}

func TestAllOrNothing(t *testing.T) {
	c := must.Have(capacity.New(capacity.Vector{"slots": 6, "memory_mb": 1000}))(t)
	request := must.Have(c.Request(capacity.Vector{"slots": 1, "memory_mb": 600}))(t)
	must.Have(c.TryAcquire(request))(t)
	_, err := c.TryAcquire(request)
	var refused *capacity.ShortageError
	if !errors.As(err, &refused) || *refused != (capacity.ShortageError{
		Reason: capacity.Short, Resource: "memory_mb", Requested: 600, Free: 400, Limit: 1000,
	}) {
		t.Errorf("refused for %+v", refused)
	}
	if !errors.Is(err, capacity.ErrShort) || !errors.Is(err, weir.ErrRefused) ||
		errors.Is(err, capacity.ErrQueued) {
		t.Errorf("%v matches the wrong errors", err)
	}
	if !errors.Is(capacity.ErrShort, weir.ErrRefused) || errors.Is(capacity.ErrShort, capacity.ErrQueued) {
		t.Error("the error of a reason matches the wrong errors")
	}
	for err, want := range map[error]string{
		capacity.ErrShort:     "capacity: refused: not enough is free",
		capacity.ErrQueued:    "capacity: refused: others wait",
		capacity.ErrNeverFits: "capacity: refused: above the limit",
	} {
		if err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if u := c.Resource("slots"); u != (capacity.ResourceSnapshot{Limit: 6, InUse: 1, Available: 5}) {
		t.Errorf("half of it was taken: %+v", u)
	}
}

func TestBadInput(t *testing.T) {
	c, request := slots(t, 6)
	child := must.Have(c.Child(capacity.Vector{"jobs": 2}))(t)
	other, _ := slots(t, 6)
	const foreign = "the request was not compiled by this capacity: use its Request method"
	limit := capacity.Refill{Every: 1}
	negative, unknown := limit, limit
	negative.Add, unknown.Add = capacity.Vector{"calls": -1}, capacity.Vector{"call": 1}
	calls := capacity.Vector{"calls": 1}
	for _, test := range []struct {
		got  error
		want string // after the name of the error
	}{
		{second(capacity.New(nil)), `no resources: want at least one`},
		{second(capacity.New(capacity.Vector{"": 1})), `a resource has no name`},
		{second(capacity.New(capacity.Vector{"slots": -1})), `limit of "slots" is -1: want 0 or more`},
		{second(c.Child(capacity.Vector{"slots": -1})), `limit of "slots" is -1: want 0 or more`},
		{second(capacity.NewQuota(nil, limit)), `no resources: want at least one`},
		{second(capacity.NewQuota(calls, capacity.Refill{})), `Refill.Every is 0s: want more than 0`},
		{second(capacity.NewQuota(calls, negative)), `Refill.Add of "calls" is -1: want 0 or more`},
		{second(capacity.NewQuota(calls, unknown)), `unknown resource "call": want one of ["calls"]`},
		{c.SetLimit("slots", -1), `limit of "slots" is -1: want 0 or more`},
		{c.SetLimit("slot", 1), `unknown resource "slot": want one of ["slots"]`},
		{c.Withhold("slots", 7), `withheld "slots" is 7: want 0 to its limit, which is 6`},
		{c.Withhold("slots", -1), `withheld "slots" is -1: want 0 to its limit, which is 6`},
		{c.Withhold("slot", 1), `unknown resource "slot": want one of ["slots"]`},
		{second(c.Request(capacity.Vector{"slots": -1})), `request for "slots" is -1: want 0 or more`},
		{second(child.Request(capacity.Vector{"slot": 1})), `request for "slot", which is unknown: want one of ["jobs" "slots"]`},
		{second(c.TryAcquire(nil)), foreign},
		{second(other.TryAcquire(request(1))), foreign},
		{second(other.Acquire(t.Context(), request(1))), foreign},
		{second(reserve(other, request(1), func() {})), foreign},
	} {
		if !errors.Is(test.got, capacity.ErrConfig) || !strings.HasSuffix(test.got.Error(), "capacity: invalid configuration: "+test.want) {
			t.Errorf("\n got %v\nwant %s", test.got, test.want)
		}
	}
	for _, test := range []struct {
		got  error
		want string
	}{
		{second(c.Request(capacity.Vector{"slots": math.MaxInt64})), `needs 9223372036854775807 of "slots", its limit is 6`},
		{second(child.Request(capacity.Vector{"slots": 7})), `needs 7 of "slots" of the parent, its limit is 6`},
	} {
		if !errors.Is(test.got, capacity.ErrNeverFits) || test.got.Error() != "capacity: refused: "+test.want {
			t.Errorf("\n got %v\nwant %s", test.got, test.want)
		}
	}
	if s := c.Snapshot(); s.Resources["slots"] != (capacity.ResourceSnapshot{Limit: 6, Available: 6}) || s.Waiting != 0 {
		t.Errorf("changed by bad input: %+v", s)
	}
	if u := c.Resource("slot"); u != (capacity.ResourceSnapshot{}) {
		t.Errorf("the unknown: %+v", u)
	}
}

func second[T any](_ T, err error) error { return err }

func TestAmountsDoNotOverflow(t *testing.T) {
	c, request := slots(t, math.MaxInt64)
	all := must.Have(c.TryAcquire(request(math.MaxInt64)))(t)
	must.Do(t, c.Withhold("slots", math.MaxInt64))
	if _, err := c.TryAcquire(request(math.MaxInt64)); !errors.Is(err, capacity.ErrShort) {
		t.Errorf("%v, want short", err)
	}
	if u := c.Resource("slots"); u.Owed != math.MaxInt64 {
		t.Errorf("%+v", u)
	}
	all.Release()
	if u := c.Resource("slots"); u.Owed != 0 || u.Withheld != math.MaxInt64 {
		t.Errorf("%+v", u)
	}
}

func TestNothingIsNeededOfWhatIsZero(t *testing.T) {
	c := must.Have(capacity.New(capacity.Vector{"slots": 0, "memory_mb": 10}))(t)
	for _, v := range []capacity.Vector{nil, {}, {"slots": 0}, {"slots": 0, "memory_mb": 10}} {
		must.Have(c.TryAcquire(must.Have(c.Request(v))(t)))(t).Release()
	}
	must.Have(c.TryAcquire(must.Have(c.Request(capacity.Vector{"memory_mb": 10}))(t)))(t)
	must.Do(t, c.SetLimit("memory_mb", 5))
	must.Have(c.TryAcquire(must.Have(c.Request(capacity.Vector{"memory_mb": 0}))(t)))(t) // though some is owed
}

// A resource is found by its name without the lock, while others take and give back.
func TestNamesAreFoundWhileWorkRuns(t *testing.T) {
	c := must.Have(capacity.New(capacity.Vector{"cpu": 2, "memory": 2}))(t)
	req := must.Have(c.Request(capacity.Vector{"cpu": 1}))(t)
	var all sync.WaitGroup
	all.Go(func() {
		for range 100 {
			if g, err := c.TryAcquire(req); err == nil {
				g.Release()
			}
		}
	})
	for range 100 {
		must.Have(c.Request(capacity.Vector{"cpu": 1}))(t)
		c.Resource("cpu")
	}
	all.Wait()
}

var operations = flag.Int("operations", 100_000, "how many operations TestNoDrift does")

// TestNoDrift takes and gives back on every processor, through a parent, while another
// goroutine moves limits and withheld parts.
//
//	go test ./capacity -run NoDrift -operations 100000000 -timeout 30m
func TestNoDrift(t *testing.T) {
	parent := must.Have(capacity.New(capacity.Vector{"slots": 12, "memory": 100}))(t)
	c := must.Have(parent.Child(capacity.Vector{"slots": 8}))(t)
	var requests []*capacity.Request
	for units := range int64(4) {
		requests = append(requests, must.Have(c.Request(capacity.Vector{"slots": units + 1, "memory": 3 * units}))(t))
	}
	var done, granted atomic.Int64
	together.Do(runtime.GOMAXPROCS(0)+2, func(worker int) {
		random := rand.New(rand.NewPCG(1, uint64(worker)))
		var held []capacity.Grant
		for done.Add(1) <= int64(*operations) {
			if grant, err := c.TryAcquire(requests[random.IntN(len(requests))]); err == nil {
				held = append(held, grant)
				granted.Add(1)
			}
			if n := len(held); n > 3 || n > 0 && random.IntN(2) == 0 {
				held[n-1].Release()
				held[n-1].Release()
				held = held[:n-1]
				done.Add(1) // the second is none
			}
			if worker == 0 && random.IntN(100) == 0 {
				limit := 4 + random.Int64N(8)
				if err := parent.SetLimit("slots", limit); err != nil {
					t.Error(err)
				}
				if err := c.Withhold("slots", random.Int64N(8)); err != nil {
					t.Error(err)
				}
			}
		}
		for _, grant := range held {
			grant.Release()
		}
	})
	for _, s := range []capacity.Snapshot{parent.Snapshot(), c.Snapshot()} {
		for name, usage := range s.Resources {
			if usage.InUse != 0 || usage.Owed != 0 || s.Grants != 0 || s.Waiting != 0 {
				t.Errorf("%s drifted: %+v, %d grants", name, usage, s.Grants)
			}
		}
	}
	t.Logf("%d grants", granted.Load())
}
