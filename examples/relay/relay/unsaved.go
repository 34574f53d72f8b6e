package relay

import (
	"log/slog"
	"sync/atomic"

	"github.com/weir-go/weir/examples/relay/nostr"
)

// unsaved counts consecutive events that could not be saved. On a full disk every event
// fails, so only the first, each thousandth, and the end are logged.
type unsaved struct{ events atomic.Int64 }

const unsavedPerLine = 1000

func (u *unsaved) failed(log *slog.Logger, id nostr.ID, err error) {
	if n := u.events.Add(1); n%unsavedPerLine == 1 {
		log.Error("an event was not saved", "id", id, "error", err, "in a row", n)
	}
}

func (u *unsaved) saved(log *slog.Logger) {
	if u.events.Load() == 0 {
		return
	}
	if n := u.events.Swap(0); n > 0 {
		log.Info("events are saved again", "not saved", n)
	}
}
