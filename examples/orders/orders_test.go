package orders_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/examples/orders"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/retry"
	"github.com/weir-go/weir/weirhttp"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// script answers successive requests with the statuses, and sets Retry-After to 5 s on each
// 503.
func script(statuses ...int) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		status := statuses[0]
		statuses = statuses[1:]
		header := http.Header{}
		if status == http.StatusServiceUnavailable {
			header.Set("Retry-After", "5")
		}
		return &http.Response{Status: http.StatusText(status), StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader("")), Request: req}, nil
	})
}

func answers(statuses ...int) *http.Client { return &http.Client{Transport: script(statuses...)} }

// Retries under synctest: a wait of seconds takes no time, and can be measured exactly.
func TestPaymentIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := must.Have(retry.New(retry.Config{Name: "payments"}))(t)
		s := &orders.Service{
			Limit:    weir.Must(weir.New(weir.Config{Name: "payments"})),
			Payments: &http.Client{Transport: weirhttp.RetryTransport(script(503, 200), client)},
		}
		began := time.Now()
		if err := s.Place(t.Context(), "book"); err != nil {
			t.Error(err)
		}
		if waited := time.Since(began); waited < 5*time.Second || waited > 10*time.Second {
			t.Errorf("waited for %v, want one to two times the Retry-After of 5s", waited)
		}
	})
}

// A queue under synctest: the second order waits for exactly as long as the queue allows.
func TestOrderThatWaitedTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := weir.Must(weir.New(weir.Config{Law: law.Fixed{Limit: 1}, Queue: weir.Queue{Size: 1, Timeout: time.Second}}))
		hangs := roundTrip(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		})
		first := &orders.Service{Limit: lim, Payments: &http.Client{Transport: hangs}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- first.Place(ctx, "book") }()
		synctest.Wait() // until it blocks

		second := &orders.Service{Limit: lim}
		began := time.Now()
		if err := second.Place(t.Context(), "lamp"); err != nil || len(second.Later) != 1 || time.Since(began) != time.Second {
			t.Errorf("%v, %v put aside after %v, want it after 1s", err, second.Later, time.Since(began))
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the first: %v", err)
		}
	})
}

// Ten payments of a second under a limit of 5 take two seconds.
func TestLimitHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := weir.Must(weir.New(weir.Config{Law: law.Fixed{Limit: 5}, Queue: weir.Queue{Size: 10, Timeout: time.Minute}}))
		slow := roundTrip(func(req *http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			return script(200).RoundTrip(req)
		})
		began, done := time.Now(), make(chan error)
		for range 10 {
			s := &orders.Service{Limit: lim, Payments: &http.Client{Transport: slow}}
			go func() { done <- s.Place(t.Context(), "book") }()
		}
		synctest.Wait()
		if got := lim.Snapshot(); got.InFlight != 5 || got.Queued != 5 {
			t.Errorf("%d in flight, %d queued, want 5 and 5", got.InFlight, got.Queued)
		}
		for range 10 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("took %v, want 2s", took)
		}
	})
}

// A failed payment is not a refusal, and the order is not put aside.
func TestPaymentThatFails(t *testing.T) {
	s := &orders.Service{Limit: weir.Must(weir.New(weir.Config{})), Payments: answers(500)}
	if err := s.Place(t.Context(), "book"); err == nil || errors.Is(err, weir.ErrRefused) || len(s.Later) > 0 {
		t.Errorf("error %v, %v put aside", err, s.Later)
	}
}
