package weirbreaker

import (
	"context"
	"errors"

	"github.com/sony/gobreaker/v2"
	"github.com/weir-go/weir"
)

// A Breaker is a [weir.Breaker]. Make one with [New]. All methods are safe for
// concurrent use; the embedded gobreaker's methods return its name, state and counts. An
// allowed piece of work costs one allocation, gobreaker's own.
type Breaker struct {
	*gobreaker.TwoStepCircuitBreaker[any]
}

// New returns a breaker with the settings of gobreaker. By default it opens after more than 5
// failures in a row, and after a minute lets one probe through. New replaces IsSuccessful and
// IsExcluded, because the limiter classifies work ([weir.Config].Classify). OnStateChange is called
// under gobreaker's lock and must not use the limiter.
func New(s gobreaker.Settings) *Breaker {
	s.IsSuccessful = func(err error) bool { return err == nil }
	s.IsExcluded = func(err error) bool { return errors.Is(err, errIgnored) }
	return &Breaker{gobreaker.NewTwoStepCircuitBreaker[any](s)}
}

// ByKey returns a function for Compartment.Breaker of package bulkhead. The function makes a
// breaker for each key, and names it after the key.
func ByKey(s gobreaker.Settings) func(key string) weir.Breaker {
	return func(key string) weir.Breaker {
		named := s
		named.Name = key
		return New(named)
	}
}

// gobreaker gets one of these errors for work without success.
var (
	errFailed  = errors.New("failed")
	errIgnored = errors.New("ignored")
)

// Allow implements [weir.Breaker]. It does not look at the context.
func (b *Breaker) Allow(context.Context) (done func(weir.Outcome), err error) {
	tell, err := b.TwoStepCircuitBreaker.Allow()
	if err != nil {
		return nil, err
	}
	return func(o weir.Outcome) {
		switch o {
		case weir.Success, weir.Late:
			tell(nil)
		case weir.Failure, weir.Timeout, weir.Overloaded:
			tell(errFailed)
		default:
			tell(errIgnored)
		}
	}, nil
}
