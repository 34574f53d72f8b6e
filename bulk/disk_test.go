package bulk

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

// deaf is a file that takes writes and refuses to sync them, so that it shows whether it is
// asked to.
func deaf(t *testing.T) string {
	const name = "/dev/null"
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	if f.Sync() == nil {
		t.Skip("this system syncs " + name)
	}
	return name
}

// A journal that is not on disk when the store is may say less after a loss of power, and one whose
// name is there before its text says nothing.
func TestJournalIsOnDisk(t *testing.T) {
	name := deaf(t)
	journal, _ := files(t)
	if err := os.Symlink(name, journal+nextSuffix); err != nil {
		t.Fatal(err)
	}
	_, err := Run(t.Context(), strings.NewReader(numbered(1)), Config{Write: newStore().write, Journal: journal})
	if err == nil || !strings.HasPrefix(err.Error(), "bulk: journal: sync ") {
		t.Errorf("%v, want that the journal could not be synced", err)
	}
}

// Rejects that are lost with the power would be in no file, for the journal is behind their lines.
func TestRejectsAreOnDisk(t *testing.T) {
	_, err := Run(t.Context(), strings.NewReader(numbered(1)), Config{
		Rejects: deaf(t), Write: func(context.Context, Line) error { return Reject(errors.New("bad")) },
	})
	if err == nil || !strings.HasPrefix(err.Error(), "bulk: rejects: sync ") {
		t.Errorf("%v, want that the rejects could not be synced", err)
	}
}

// The end of a line is \n or \r\n. A \r at the end of a source is a part of its last line.
func TestReturnThatEndsTheSource(t *testing.T) {
	long := strings.Repeat("x", readBuffer)
	for source, want := range map[string]string{"a\r\n": "a", "a\r": "a\r", "a\r\r\n": "a\r", "\r": "\r", long + "\r": long + "\r", long + "\r\n": long} {
		s := newStore()
		if _, err := Run(t.Context(), strings.NewReader(source), Config{Write: s.write}); err != nil || s.times[want] != 1 || len(s.times) != 1 {
			t.Errorf("%.9q of %d bytes: %v, want the line without its end, of %d bytes", source, len(source), err, len(want))
		}
	}
}
