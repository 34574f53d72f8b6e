package weir_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

func TestSumIsOneLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fast, slow := fixed(t, 2, weir.Queue{}), fixed(t, 3, weir.Queue{})
		for i, l := range []*weir.Limiter{fast, slow} {
			for range 50 {
				_ = l.Do(t.Context(), func(context.Context) error {
					time.Sleep(time.Duration(1+99*i) * time.Millisecond)
					return nil
				})
			}
		}
		_ = slow.Do(t.Context(), func(context.Context) error { return errors.New("failed") })
		hold(t, fast, 2)
		if _, err := fast.TryAcquire(t.Context()); err == nil {
			t.Error("admitted")
		}
		time.Sleep(time.Second)
		s := weir.Sum(fast, slow)
		if s.Samples != 100 || s.P50 > 2*time.Millisecond || s.P95 < 95*time.Millisecond ||
			s.Mean.Round(time.Microsecond) != 50500*time.Microsecond {
			t.Errorf("samples %d, p50 %v, p95 %v, mean %v", s.Samples, s.P50, s.P95, s.Mean)
		}
		if s.Limit != 5 || s.InFlight != 2 || s.Admitted != 103 || s.Completed != 101 || s.Failed != 1 ||
			s.Refused[weir.ReasonLimitReached] != 1 || s.ErrorRate != 1.0/101 || s.Age < time.Second {
			t.Errorf("%+v", s)
		}
	})
}

func TestSumOfAnUnusedLimiter(t *testing.T) {
	used, unused := newLimiter(t, weir.Config{}), newLimiter(t, weir.Config{})
	for range 3 {
		_ = used.Do(t.Context(), func(context.Context) error { return nil })
	}
	if s := weir.Sum(used, unused, used); s.Samples != 6 || s.Admitted != 6 {
		t.Errorf("%d samples, %d admitted: want those of the used one, twice", s.Samples, s.Admitted)
	}
}

// A field of a snapshot that Sum forgets is zero in the sum, also where it is not zero in a
// limiter.
func TestSumForgetsNoField(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{
			Name: "one", Initial: 2, Max: 2, Law: law.Band{Target: time.Second}, Histograms: true,
			MinSamples: 1, Interval: time.Second,
			Queue: weir.Queue{Size: 2, Timeout: time.Minute},
		})
		work := func(err error) {
			_ = l.Do(t.Context(), func(context.Context) error { time.Sleep(10 * time.Second); return err })
		}
		for _, err := range []error{
			nil, nil, nil, errors.New("failed"), context.DeadlineExceeded, context.Canceled, nil,
			nil,
		} {
			for range 5 { // at least one runs, two wait and one is refused
				go work(err)
				synctest.Wait()
			}
			time.Sleep(31 * time.Second) // as long as three take one after another
		}
		hold(t, l, l.Snapshot().Limit)
		go work(nil)
		time.Sleep(time.Millisecond)
		one, sum := reflect.ValueOf(l.Snapshot()), reflect.ValueOf(weir.Sum(l))
		seen := 0
		for field, value := range one.Fields() {
			switch field.Name {
			case "Name", "Last", "Decision", "GroupWait": // of one limiter
				continue
			}
			if value.IsZero() {
				continue
			}
			if seen++; sum.FieldByIndex(field.Index).IsZero() {
				t.Errorf("%s is %v, and 0 in the sum", field.Name, value)
			}
		}
		if seen < 20 {
			t.Errorf("%d fields of %+v say something: want most of them", seen, one)
		}
	})
}
