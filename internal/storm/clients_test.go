package storm_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/storm"
)

// TestClosedLoop checks that a client starts its next operation after its last has ended and
// its pause is over, and that a refused client waits for one to two times RetryAfter.
func TestClosedLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		entries := make([][]storm.Entry, 2)
		failed := errors.New("failed")
		var asked, told atomic.Int64
		storm.Clients{
			Number: 2,
			Gate: func(context.Context) (func(error), error) {
				if asked.Add(1)%3 == 0 {
					return nil, &weir.RefusedError{RetryAfter: time.Second}
				}
				time.Sleep(100 * time.Millisecond)
				return func(err error) {
					if err == failed {
						told.Add(1)
					}
				}, nil
			},
			Work: func(_ context.Context, client int) error {
				time.Sleep(200 * time.Millisecond)
				if client == 1 {
					return failed
				}
				return nil
			},
			Pause: 700 * time.Millisecond,
			Log:   func(client int, e storm.Entry) { entries[client] = append(entries[client], e) },
		}.Run(ctx)
		var failures int64
		for client, all := range entries {
			for i, e := range all {
				if e.Err != nil {
					failures++
				}
				if !e.Refused &&
					(e.Database() != 200*time.Millisecond || e.WithWait() != 300*time.Millisecond ||
						(e.Err == failed) != (client == 1)) {
					t.Errorf("client %d: %+v", client, e)
				}
				if i == 0 {
					continue
				}
				gap := e.Asked.Sub(all[i-1].Asked)
				if all[i-1].Refused && (gap < 1700*time.Millisecond || gap > 2700*time.Millisecond) ||
					!all[i-1].Refused && gap != time.Second {
					t.Errorf("client %d asks %v after one that was refused: %v", client, gap, all[i-1].Refused)
				}
			}
		}
		if told.Load() == 0 || told.Load() != failures || time.Since(entries[0][0].Asked) > 12*time.Second {
			t.Errorf("told of %d of %d failures", told.Load(), failures)
		}
	})
}

func TestReadingsAreJSON(t *testing.T) {
	text := storm.Readings()
	if len(text) < storm.Stock || !json.Valid([]byte("["+string(text[:len(text)-1])+"]")) {
		t.Errorf("%d bytes: %.99s", len(text), text)
	}
	if part := storm.Part(text, 100); len(part) != 100 {
		t.Errorf("%d bytes", len(part))
	}
}
