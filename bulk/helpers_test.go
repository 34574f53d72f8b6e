package bulk

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

// store is a database of lines by their text.
type store struct {
	mu    sync.Mutex
	times map[string]int   // how often each was written
	lines map[int64]Line   // by number, of this run
	fail  func(Line) error // nil if nothing fails
}

func newStore() *store { return &store{times: map[string]int{}, lines: map[int64]Line{}} }

func (s *store) write(_ context.Context, l Line) error {
	if s.fail != nil {
		if err := s.fail(l); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text := string(l.Text)
	s.times[text]++
	l.Text = []byte(text)
	s.lines[l.Number] = l
	return nil
}

// numbered is n different lines.
func numbered(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "line %d\n", i+1)
	}
	return text.String()
}

// has demands that the store has the n lines of numbered, but for those left out.
func (s *store) has(t *testing.T, n int, without ...int) {
	t.Helper()
	left := map[int]bool{}
	for _, i := range without {
		left[i] = true
	}
	if len(s.times) != n-len(without) {
		t.Errorf("%d lines in the store, want %d", len(s.times), n-len(without))
	}
	for i := 1; i <= n; i++ {
		if s.times[fmt.Sprintf("line %d", i)] == 0 && !left[i] {
			t.Errorf("line %d is lost", i)
			return
		}
	}
}

// files returns the paths of a journal and a file of rejects that do not exist.
func files(t *testing.T) (journal, rejects string) {
	dir := t.TempDir()
	return filepath.Join(dir, "journal"), filepath.Join(dir, "rejects")
}

// rejected returns the lines of a file of rejects.
func rejected(t *testing.T, name string) (all []reject) {
	t.Helper()
	text := must.Have(os.ReadFile(name))(t)
	for line := range strings.Lines(string(text)) {
		var r reject
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, r)
	}
	return all
}

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
