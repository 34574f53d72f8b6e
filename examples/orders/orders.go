package orders

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/weir-go/weir"
)

// A Limiter is the part of a [weir.Limiter] that the service uses. An interface with one
// method is easy to fake.
type Limiter interface {
	// Do calls work, or returns a refusal.
	Do(ctx context.Context, work func(context.Context) error) error
}

// A Service takes orders and requests their payment.
type Service struct {
	Payments *http.Client // with weirhttp.RetryTransport, in production
	Limit    Limiter      // limits the payments
	Later    []string     // orders to be paid later, because the payments are at their limit
}

// Place pays an order now, or puts it aside if the limiter refuses. It returns an error if
// it did neither.
func (s *Service) Place(ctx context.Context, order string) error {
	err := s.Limit.Do(ctx, func(ctx context.Context) error { return s.pay(ctx, order) })
	if errors.Is(err, weir.ErrRefused) {
		s.Later = append(s.Later, order)
		return nil
	}
	return err
}

func (s *Service) pay(ctx context.Context, order string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://payments/", strings.NewReader(order))
	if err != nil {
		return err
	}
	req.Header.Set("Idempotency-Key", order) // so that a retry does not pay twice
	res, err := s.Payments.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("payment of %s: %s", order, res.Status)
	}
	return nil
}
