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
	"unicode/utf8"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/figures"
	"github.com/weir-go/weir/internal/locked"
	"github.com/weir-go/weir/law"
)

func TestPrintFigures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := weir.Must(weir.New(weir.Config{Law: law.Fixed{}, Initial: 3}))
		out, problems, faults := new(locked.Buffer), new(locked.Buffer), new(Faults)
		ctx, stop := context.WithCancel(t.Context())
		var printing sync.WaitGroup
		printing.Go(func() { PrintFigures(ctx, out, problems, figures.NewMeter(lim), faults) })
		faults.Add(errors.New("connection refused"))
		faults.Add(errors.New("half an answer"))
		time.Sleep(21*time.Second + time.Millisecond)
		stop()
		printing.Wait()
		if got := strings.Count(out.String(), "adm/s"); got != 2 {
			t.Errorf("%d headers in 21 lines", got)
		}
		if got := strings.Count(out.String(), "\n"); got != 23 {
			t.Errorf("%d lines", got)
		}
		if got, want := problems.String(), "weir: failures: 2, last: half an answer\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

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

func TestChanges(t *testing.T) {
	c := new(Changes)
	if c.String() != "" {
		t.Errorf("%q", c)
	}
	c.Handle(weir.Event{Kind: weir.LimitChanged, Limiter: "api", Change: weir.Change{From: 20, To: 22}})
	c.Handle(weir.Event{Kind: weir.Refused, Limiter: "search"})
	if got := c.String(); !strings.HasPrefix(got, "api 22: ") {
		t.Errorf("%q", got)
	}
}

func TestFiguresFitOnAScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := weir.Must(weir.New(weir.Config{Law: law.Fixed{}, Initial: 3}))
		change := "checkout 36: elasticity 0.0957 near 0.1 " + strings.Repeat("ß", screen)
		out := new(locked.Buffer)
		ctx, stop := context.WithCancel(t.Context())
		var printing sync.WaitGroup
		meter := figures.NewTotalMeter(lim.Snapshot, func() string { return change })
		printing.Go(func() { PrintFigures(ctx, out, new(locked.Buffer), meter, new(Faults)) })
		time.Sleep(time.Second + time.Millisecond)
		stop()
		printing.Wait()
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > screen {
				t.Errorf("%d columns: %s", n, line)
			}
		}
		if !strings.Contains(out.String(), change[:20]) {
			t.Errorf("no change in\n%s", out)
		}
	})
}
