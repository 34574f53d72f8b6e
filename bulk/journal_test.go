package bulk

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

func TestImportGoesOnWhereItStopped(t *testing.T) {
	const n = 5000
	journal, _ := files(t)
	s := newStore()
	boom := errors.New("boom")
	var at, before int64
	s.fail = func(l Line) error {
		if l.Number <= before {
			t.Errorf("line %d is written again, where the journal has all up to %d", l.Number, before)
		}
		if l.Number == at {
			return boom
		}
		return nil
	}
	runs := 0
	for ; ; runs++ {
		at = before + 1 + rand.Int64N(n/5)
		source := io.Reader(strings.NewReader(numbered(n)))
		if runs%2 == 1 {
			source = struct{ io.Reader }{source} // without Seek
		}
		p, err := Run(t.Context(), source, Config{Write: s.write, Journal: journal})
		if p.Resumed != before {
			t.Fatalf("run %d: went on behind line %d, want %d", runs, p.Resumed, before)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, boom) {
			t.Fatal(err)
		}
		before = at - 1 // all before it were read, and ended well
	}
	s.has(t, n)
	s.fail = nil
	p, err := Run(t.Context(), strings.NewReader(numbered(n+10)), Config{Write: s.write, Journal: journal})
	if err != nil || p.Resumed != n || p.Lines != n+10 {
		t.Errorf("of a source that grew: %+v, %v", p, err)
	}
	s.has(t, n+10)
}

func TestJournalThatIsNone(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty": "", "cut": `{"version":1,"lin`, "old": `{"version":0}`, "negative": `{"version":1,"lines":-1}`, "other": "line 1\n",
		"bytes of no line": `{"version":1,"lines":0,"offset":100,"last":0}`, "a line of no byte": `{"version":1,"lines":2,"offset":5,"last":5}`,
		"more lines than bytes": `{"version":1,"lines":5,"offset":3,"last":2}`,
	} {
		journal := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(journal, []byte(text), 0o600))
		s := newStore()
		if _, err := Run(t.Context(), strings.NewReader("x"), Config{Write: s.write, Journal: journal}); err == nil || !strings.Contains(err.Error(), "no journal") || len(s.times) > 0 {
			t.Errorf("%s: %v, and %d lines written", name, err, len(s.times))
		}
	}
	huge := filepath.Join(dir, "huge")
	if err := errors.Join(os.WriteFile(huge, nil, 0o600), os.Truncate(huge, 1<<36)); err != nil { // it takes no space
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), strings.NewReader("x"), Config{Write: newStore().write, Journal: huge}); err == nil || !strings.Contains(err.Error(), "no journal") {
		t.Errorf("64 GiB: %v", err)
	}
	for field, c := range map[string]Config{"journal": {Journal: filepath.Join(dir, "no", "where")}, "rejects": {Rejects: filepath.Join(dir, "no", "where")}} {
		c.Write = newStore().write
		if _, err := Run(t.Context(), strings.NewReader("x"), c); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s in no directory: %v", field, err)
		}
	}
}

func TestSyncComesBeforeTheJournal(t *testing.T) {
	journal, _ := files(t)
	s := newStore()
	var synced int
	boom := errors.New("boom")
	conf := Config{Write: s.write, Journal: journal, Sync: func() error { synced++; return nil }}
	if _, err := Run(t.Context(), strings.NewReader(numbered(10)), conf); err != nil || synced == 0 {
		t.Errorf("synced %d times, %v", synced, err)
	}
	conf.Sync = func() error { return boom }
	if _, err := Run(t.Context(), strings.NewReader(numbered(20)), conf); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	if s, _, err := readJournal(journal); err != nil || s.Lines != 10 {
		t.Errorf("the journal says %d lines, %v: what was not synced is not in", s.Lines, err)
	}
}

// A journal that is not on disk when the store is may say less after a loss of power, and one whose
// name is there before its text says nothing.
func TestJournalIsOnDisk(t *testing.T) {
	name := deaf(t)
	journal, _ := files(t)
	must.Do(t, os.Symlink(name, journal+nextSuffix))
	_, err := Run(t.Context(), strings.NewReader(numbered(1)), Config{Write: newStore().write, Journal: journal})
	if err == nil || !strings.HasPrefix(err.Error(), "bulk: journal: sync ") {
		t.Errorf("%v, want that the journal could not be synced", err)
	}
}
