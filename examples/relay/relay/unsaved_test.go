package relay

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/weir-go/weir/examples/relay/nostr"
)

// TestFullDiskDoesNotFillTheLog checks that thousands of failures write only a few log
// lines.
func TestFullDiskDoesNotFillTheLog(t *testing.T) {
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	var u unsaved
	u.saved(log)
	for range 2500 {
		u.failed(log, nostr.ID{}, errors.New("no space left on device"))
	}
	u.saved(log)
	u.saved(log)
	if lines := strings.Count(text.String(), "\n"); lines != 4 || !strings.Contains(text.String(), `"not saved"=2500`) {
		t.Errorf("%d lines, want 4, of which the last has 2500:\n%s", lines, &text)
	}
}
