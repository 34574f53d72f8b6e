package weir_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/locked"
	"github.com/weir-go/weir/law"
)

// textLog returns a logger and its output in this bubble, without the time.
func textLog() (*slog.Logger, func() string) {
	var b locked.Buffer
	logger := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
	return logger, func() string {
		synctest.Wait()
		return b.String()
	}
}

func lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}

func TestLogDoesNotFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, text := textLog()
		l := newLimiter(t, weir.Config{Name: "search", Max: 1, OnEvent: weir.Log(logger)})
		hold(t, l, 1)
		for range 1000 {
			_, _ = l.TryAcquire(t.Context())
		}
		if n := len(lines(text())); n > 1 {
			t.Errorf("%d lines at once", n)
		}
		time.Sleep(2 * time.Second)
		written := lines(text())
		total := 0
		for _, line := range written {
			if !strings.Contains(line, "refused") || !strings.Contains(line, "limiter=search") ||
				!strings.Contains(line, `reason="limit reached"`) {
				t.Errorf("line %q", line)
			}
			var n int
			if _, after, ok := strings.Cut(line, "count="); ok {
				_, _ = fmt.Sscan(after, &n)
			}
			total += n
		}
		if len(written) > 2 || total < 999 || total > 1000 {
			t.Errorf("%d lines that count %d: want one for all 1000 refusals:\n%s", len(written), total, text())
		}

		time.Sleep(time.Minute)
		if n := len(lines(text())); n != len(written) {
			t.Error("more lines without more refusals")
		}
		for range 10 { // a second of refusals is a line
			_, _ = l.TryAcquire(t.Context())
			time.Sleep(2 * time.Second)
		}
		if n := len(lines(text())) - len(written); n != 10 {
			t.Errorf("%d lines for refusals in ten different seconds: want 10", n)
		}
	})
}

func TestLogTellsReasonsAndLimitersApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, text := textLog()
		handle := weir.Log(logger)
		a := newLimiter(t, weir.Config{Name: "a", Max: 1, Law: law.Fixed{}, OnEvent: handle})
		b := newLimiter(t, weir.Config{Name: "b", Max: 1, Law: law.Fixed{}, OnEvent: handle, Shadow: true})
		hold(t, a, 1)
		hold(t, b, 2)
		_, _ = a.TryAcquire(t.Context())
		_, _ = a.AcquireN(t.Context(), 2)
		time.Sleep(2 * time.Second)
		for _, want := range []string{
			`refused" limiter=a reason="limit reached"`, `refused" limiter=a reason="too heavy"`,
			`would refuse" limiter=b reason="limit reached"`,
		} {
			if strings.Count(text(), want) != 1 {
				t.Errorf("want one line with %q in\n%s", want, text())
			}
		}
	})
}

// Clients that invent the keys of a bulkhead do not write the log.
func TestLogNamesFewLimiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, text := textLog()
		handle := weir.Log(logger)
		for i := range 1000 {
			handle(weir.Event{Kind: weir.Refused, Limiter: fmt.Sprint("key", i), Reason: weir.ReasonQueueFull})
		}
		time.Sleep(2 * time.Second)
		if got := text(); len(lines(got)) != 21 || !strings.Contains(got, `refused" reason="queue full" count=980 `) {
			t.Errorf("%d lines, want 20 that name a limiter and one for 980 others:\n%s", len(lines(got)), got)
		}
	})
}

func TestLogWritesChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, text := textLog()
		c := weir.Config{Name: "search", Initial: 20, OnEvent: weir.Log(logger)}
		l := newLimiter(t, c)
		c.Max = 14
		c.Initial = 0
		update(t, l, c)
		if got := text(); !strings.Contains(got, "limit changed") ||
			!strings.Contains(got, `limiter=search from=20 to=14 reason="configuration changed"`) {
			t.Errorf("%s", got)
		}
		c.Law = law.Fixed{}
		update(t, l, c)
		if got := text(); !strings.Contains(got, "law replaced") {
			t.Errorf("%s", got)
		}
	})
}
