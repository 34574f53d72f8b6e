package observe

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/locked"
)

func TestRateLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := new(locked.Buffer)
		log := slog.New(RateLimited(slog.NewTextHandler(out, nil)))
		for range 100 {
			log.Warn("a broken frame")
			log.With("listener", ":8080").WithGroup("more").Warn("another")
		}
		if got := strings.Count(out.String(), "\n"); got != perSecond {
			t.Errorf("%d lines of 200 in a second, want %d", got, perSecond)
		}
		time.Sleep(time.Second)
		log.Warn("later")
		if got, want := out.String(), "msg=later left_out=195\n"; !strings.HasSuffix(got, want) {
			t.Errorf("the last line of\n%s\nwant %s", got, want)
		}
		log.Warn("once more")
		if got, want := out.String(), "msg=\"once more\"\n"; !strings.HasSuffix(got, want) {
			t.Errorf("the last line of\n%s\nwant %s", got, want)
		}
		log.Warn("failed", "error", errors.New("bad header \x1b[2J")) // an upstream chooses part of the text
		if got := out.String(); strings.Contains(got, "\x1b") {
			t.Errorf("moves the cursor: %q", got)
		}
	})
}
