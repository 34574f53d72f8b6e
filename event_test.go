package weir_test

import (
	"errors"
	"fmt"
	"log"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/locked"
	"github.com/weir-go/weir/law"
)

// A client that chooses a key must not write lines of its own into a log.
func TestEventIsOneLine(t *testing.T) {
	e := weir.Event{Limiter: "a\nb", Kind: weir.Refused, Reason: weir.ReasonQueueFull}
	if got, want := e.String(), `"a\nb: refused: queue full"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestEventOfARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j limittest.Journal
		l := newLimiter(t, weir.Config{
			Name: "search", Max: 1, Law: law.Fixed{}, OnEvent: j.Note,
			Queue: weir.Queue{Size: 1, Timeout: time.Second},
		})
		hold(t, l, 1)
		waiting := ask(t.Context(), l, 1)
		_, err := l.Acquire(t.Context())
		_, _ = l.TryAcquire(t.Context())
		time.Sleep(time.Second)
		now(t, waiting)
		_, _ = l.AcquireN(t.Context(), 2)
		l.Close()
		_, _ = l.TryAcquire(t.Context())

		var want *weir.RefusedError
		if !errors.As(err, &want) {
			t.Fatal(err)
		}
		reasons := []weir.Reason{
			weir.ReasonQueueFull, weir.ReasonLimitReached, weir.ReasonQueueTimeout, weir.ReasonTooHeavy,
			weir.ReasonClosed,
		}
		for i, e := range j.Events {
			if e.Kind != weir.Refused || e.Reason != reasons[i] || e.Limiter != "search" || e.Seq != uint64(i+1) ||
				e.At.IsZero() {
				t.Errorf("event %d: %+v", i, e)
			}
		}
		if len(j.Events) != 5 || j.Events[0].String() != "search: refused: queue full" ||
			j.Events[0].RetryAfter != want.RetryAfter {
			t.Errorf("%v", j.Events)
		}
	})
}

func TestEventOfAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j limittest.Journal
		l := newLimiter(t, weir.Config{Initial: 10, Law: band, MinSamples: 1, OnEvent: j.Note})
		load(t.Context(), l, 1, 3500*time.Millisecond, always(250*time.Millisecond))
		history := l.History()
		changes := j.Of(weir.LimitChanged)
		if len(history) == 0 || len(changes) != len(history) || len(j.Events) != len(history) {
			t.Fatalf("%d changes in the history, %d events", len(history), len(j.Events))
		}
		for i, c := range history {
			e := changes[i]
			if e.Seq != uint64(i+1) || e.Change.From != c.From || e.Change.To != c.To || !e.At.Equal(c.At) ||
				!e.Change.At.Equal(c.At) ||
				e.Change.String() != c.String() || e.String() != "limiter: limit changed: "+c.String() {
				t.Errorf("event %+v, history %+v", e, c)
			}
		}
	})
}

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
		if len(written) != 1 || !strings.Contains(written[0], `refused" limiter=search reason="limit reached" count=1000 `) {
			t.Errorf("%q: want one line for all 1000 refusals", written)
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

// A limiter in a package variable is made before main sets the default logger.
func TestLogWithoutALoggerUsesTheDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handle := weir.Log(nil)
		logger, text := textLog()
		defer slog.SetDefault(slog.Default())
		defer log.SetOutput(log.Writer()) // which SetDefault changes too
		defer log.SetFlags(log.Flags())
		slog.SetDefault(logger)
		handle(weir.Event{Kind: weir.Refused, Limiter: "search", Reason: weir.ReasonQueueFull})
		time.Sleep(2 * time.Second)
		if got := text(); !strings.HasPrefix(got, `level=WARN msg="weir: refused" limiter=search `) {
			t.Errorf("wrote %q, want a line of the logger that is the default by then", got)
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

// A line has all changes of a second: a law at work moves the limit ten times in one.
func TestLogWritesChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, text := textLog()
		c := weir.Config{Name: "search", Initial: 20, OnEvent: weir.Log(logger)}
		l := newLimiter(t, c)
		c.Initial = 0
		for _, c.Max = range []int{17, 15, 14} {
			update(t, l, c)
		}
		c.Law = law.Fixed{}
		update(t, l, c)
		time.Sleep(2 * time.Second)
		got := lines(text())
		slices.Sort(got)
		if want := []string{
			`level=INFO msg="weir: law replaced" limiter=search from=14 to=14 reason=pinned count=1 within=1s`,
			`level=INFO msg="weir: limit changed" limiter=search from=20 to=14 reason="configuration changed" count=3 within=1s`,
		}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
