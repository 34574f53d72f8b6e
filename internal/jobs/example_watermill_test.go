package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
)

// limitMessages runs handlers within the limit. A message that is refused is kept until the limiter
// expects to have room, and then goes back to its queue.
func limitMessages(lim *weir.Limiter) message.HandlerMiddleware {
	return func(next message.HandlerFunc) message.HandlerFunc {
		return func(msg *message.Message) ([]*message.Message, error) {
			produced, err := weir.Do(msg.Context(), lim, func(context.Context) ([]*message.Message, error) { return next(msg) })
			if errors.Is(err, weir.ErrRefused) {
				after, _ := edge.RetryAfter(err)
				select {
				case <-time.After(after):
				case <-msg.Context().Done():
				}
			}
			return produced, err
		}
	}
}

func Example_watermill() {
	lim := weir.Must(weir.New(weir.Config{Name: "invoices", Queue: weir.Queue{Size: 20, Timeout: time.Minute}}))
	handler := limitMessages(lim)(func(*message.Message) ([]*message.Message, error) { return nil, nil }) // as router.AddMiddleware does
	_, err := handler(message.NewMessage("1", nil))
	fmt.Println(err, lim.Snapshot().Succeeded)
	// Output: <nil> 1
}
