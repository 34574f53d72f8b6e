package observe

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/locked"
)

func TestFaultsAreOneLineASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, faults := new(locked.Buffer), new(Faults)
		ctx, stop := context.WithCancel(t.Context())
		var logging sync.WaitGroup
		logging.Go(func() { faults.Log(ctx, slog.New(slog.NewTextHandler(out, nil))) })
		for range 1000 {
			faults.Add(errors.New("connection refused"))
		}
		time.Sleep(3*time.Second + time.Millisecond)
		stop()
		logging.Wait()
		if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "failures: 1000, last: connection refused") {
			t.Errorf("%q", got)
		}
	})
}

func TestFaultsMoveNoCursor(t *testing.T) {
	faults := new(Faults)
	faults.Add(errors.Join(errors.New("bad header \x1b[2J\r"), errors.New("again")))
	if got, want := faults.take(), "failures: 1, last: bad header \uFFFD[2J\uFFFD again"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
