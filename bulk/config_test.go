package bulk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

// A file that is read and written to would have its own rejects as lines, without an end.
func TestSourceIsNotWrittenTo(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lines")
	must.Do(t, os.WriteFile(name, []byte("bad\n"), 0o600))
	for field, c := range map[string]Config{"Rejects": {Rejects: name}, "Journal": {Journal: name}} {
		source := must.Have(os.Open(name))(t)
		defer source.Close()
		c.Write = func(context.Context, Line) error { return Reject(errors.New("bad")) }
		_, err := Run(t.Context(), source, c)
		if want := field + ` is "` + name + `": want another file than the source`; !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "bad\n" {
		t.Errorf("the source is %q (%v)", text, err)
	}
}

// Other spellings of a path lead to the same file.
func TestRejectsAreNotTheJournal(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	for _, rejects := range []string{"j", "./j", filepath.Join(folder, "j"), "j.next", "../" + filepath.Base(folder) + "/j"} {
		s := newStore()
		_, err := Run(t.Context(), strings.NewReader(numbered(3)), Config{Write: s.write, Journal: "j", Rejects: rejects})
		if !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v, want an error of the configuration", rejects, err)
		}
	}
}

func TestSettingsOutOfRange(t *testing.T) {
	write := newStore().write
	for field, c := range map[string]Config{
		"Write": {}, "Workers": {Write: write, Workers: 10_001}, "MaxLine": {Write: write, MaxLine: 1<<30 + 1},
		"Size": {Write: write, Size: -1}, "Every": {Write: write, Every: -1}, "Rejects": {Write: write, Journal: "a", Rejects: "a"},
	} {
		_, err := Run(t.Context(), strings.NewReader("x"), c)
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), field+" is ") {
			t.Errorf("%s: %v", field, err)
		}
	}
	if Reject(nil) != nil {
		t.Error("Reject(nil) is an error")
	}
	if err := fmt.Errorf("of a line: %w", Reject(io.EOF)); !errors.Is(err, ErrRejected) || !errors.Is(err, io.EOF) {
		t.Errorf("%v does not match", err)
	}
}
