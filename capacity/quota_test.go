package capacity_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/must"
)

func TestQuotaComesBackWithTime(t *testing.T) {
	for _, test := range []struct {
		name  string
		add   capacity.Vector
		after map[time.Duration]int64 // available
	}{
		{"reset", nil, map[time.Duration]int64{0: 0, 999 * time.Millisecond: 0, time.Second: 10}},
		{"increment", capacity.Vector{"calls": 3}, map[time.Duration]int64{
			0: 0, time.Second: 3, 2500 * time.Millisecond: 6, 3 * time.Second: 9, 4 * time.Second: 10, time.Hour: 10,
		}},
		{"never", capacity.Vector{"calls": 0}, map[time.Duration]int64{time.Hour: 0}},
		{"overflow", capacity.Vector{"calls": math.MaxInt64}, map[time.Duration]int64{0: 0, time.Hour: 10}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for after, want := range test.after {
				for name, available := range looks {
					synctest.Test(t, func(t *testing.T) {
						q := must.Have(capacity.NewQuota(capacity.Vector{"calls": 10}, capacity.Refill{
							Every: time.Second, Add: test.add,
						}))(t)
						must.Have(q.TryAcquire(must.Have(q.Request(capacity.Vector{"calls": 10}))(t)))(t).Release()
						time.Sleep(after)
						if got := available(t, q); got != want {
							t.Errorf("%s after %v: %d, want %d", name, after, got, want)
						}
					})
				}
			}
		})
	}
}

// looks are the ways to see how much of a quota is there.
var looks = map[string]func(*testing.T, *capacity.Capacity) int64{
	"Resource": func(_ *testing.T, q *capacity.Capacity) int64 { return q.Resource("calls").Available },
	"Snapshot": func(_ *testing.T, q *capacity.Capacity) int64 { return q.Snapshot().Resources["calls"].Available },
	"TryAcquire": func(t *testing.T, q *capacity.Capacity) (n int64) {
		one := must.Have(q.Request(capacity.Vector{"calls": 1}))(t)
		for _, err := q.TryAcquire(one); err == nil; _, err = q.TryAcquire(one) {
			n++
		}
		return n
	},
}

func TestQuotaServesWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := must.Have(capacity.NewQuota(capacity.Vector{"calls": 2}, capacity.Refill{Every: time.Second}))(t)
		call := must.Have(q.Request(capacity.Vector{"calls": 1}))(t)
		start := time.Now()
		for i := range 7 {
			must.Have(q.Acquire(t.Context(), call))(t)
			if took, want := time.Since(start), time.Duration(i/2)*time.Second; took != want {
				t.Errorf("call %d after %v, want %v", i, took, want)
			}
		}
		if s := q.Snapshot(); s.Grants != 7 || s.Resources["calls"].InUse != 1 {
			t.Errorf("%+v", s)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		both := must.Have(q.Request(capacity.Vector{"calls": 2}))(t)
		if _, err := q.Acquire(ctx, both); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// Slots for how much runs at once, below a quota for how much starts.
func TestQuotaAsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := must.Have(capacity.NewQuota(capacity.Vector{"calls": 3}, capacity.Refill{Every: time.Minute}))(t)
		c := must.Have(q.Child(capacity.Vector{"slots": 2}))(t)
		request := must.Have(c.Request(capacity.Vector{"slots": 1, "calls": 1}))(t)
		start := time.Now()
		for range 3 {
			must.Have(c.TryAcquire(request))(t).Release()
		}
		_, err := c.TryAcquire(request)
		if want := `capacity: refused: needs 1 of "calls" of the parent, 0 free of 3`; err == nil ||
			err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		must.Have(c.Acquire(t.Context(), request))(t).Release()
		if took := time.Since(start); took != time.Minute {
			t.Errorf("after %v, want a minute", took)
		}
		time.Sleep(time.Minute)
		for range 3 {
			must.Have(c.TryAcquire(request))(t).Release()
		}
		if u := c.Resource("slots"); u.InUse != 0 {
			t.Errorf("%+v", u)
		}
	})
}
