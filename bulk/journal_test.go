package bulk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// An import that stops again and again, or is killed ahead of its journal, continues behind the
// lines of its journal. Each line is in the store, or once and in order in the file of rejects,
// behind those of an earlier import.
func TestImportGoesOnWhereItStopped(t *testing.T) {
	const n = 5000
	journal, rejects := files(t)
	const earlier = `{"line":7,"error":"of an earlier import"}` + "\n"
	must.Do(t, os.WriteFile(rejects, []byte(earlier), 0o600))
	s := newStore()
	boom := errors.New("boom")
	random := rand.New(rand.NewPCG(1, 2))
	var at, before int64
	s.fail = func(l Line) error {
		switch state, err := readJournal(journal); {
		case err != nil || state.Rejects < int64(len(earlier)):
			return fmt.Errorf("the journal says %+v, %v: it has to know of earlier rejects from the start", state, err)
		case l.Number <= before:
			t.Errorf("line %d is written again, where the journal has all up to %d", l.Number, before)
		case l.Number == at:
			return boom
		case l.Number%10 == 0:
			return Reject(errors.New("bad"))
		}
		return nil
	}
	run := func(source io.Reader) (Snapshot, error) {
		return Run(t.Context(), source, Config{Write: s.write, Journal: journal, Rejects: rejects})
	}
	for runs := 0; ; runs++ {
		at = before + 1 + random.Int64N(n/5)
		source := io.Reader(strings.NewReader(numbered(n)))
		if runs%2 == 1 {
			source = struct{ io.Reader }{source} // without Seek
		}
		p, err := run(source)
		if p.Resumed != before {
			t.Fatalf("run %d: went on behind line %d, want %d", runs, p.Resumed, before)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, boom) {
			t.Fatal(err)
		}
		state, err := readJournal(journal)
		if before = state.Lines; err != nil || before >= at || before < at-1 && (before+1)%10 != 0 {
			t.Fatalf("run %d: stopped at line %d, and the journal has %d, %v: it may lack rejects alone, which are none once it stops", runs, at, before, err)
		}
		f := must.Have(os.OpenFile(rejects, os.O_APPEND|os.O_WRONLY, 0))(t)
		must.Have(f.WriteString(strings.Repeat(`{"line":4990,"error":"written before a kill"}`+"\n", n)))(t)
		f.Close()
	}
	at = 0 // which may be a line that was added
	p, err := run(strings.NewReader(numbered(n + 10)))
	if err != nil || p.Resumed != n || p.Lines != n+10 || p.Rejected != n/10+1 {
		t.Errorf("of a source that grew: %+v, %v", p, err)
	}
	all, text := rejected(t, rejects), numbered(n+10)
	if len(all) != 1+n/10+1 || all[0].Line != 7 {
		t.Fatalf("%d rejects, want %d and that of an earlier import", len(all), n/10+1)
	}
	for i, r := range all[1:] {
		line := fmt.Sprintf("line %d", 10*(i+1))
		if r.Line != int64(10*(i+1)) || r.Error != "bad" || r.Text != line || r.Byte != int64(strings.Index(text, line+"\n")) {
			t.Fatalf("reject %d is %+v", i, r)
		}
	}
	if len(s.times) != n+10-(n/10+1) {
		t.Errorf("%d lines in the store", len(s.times))
	}
	must.Do(t, os.Truncate(rejects, 5))
	if _, err := run(strings.NewReader(text)); !errors.Is(err, ErrChanged) {
		t.Errorf("a file of rejects that was cut: %v", err)
	}
}

func TestJournalThatIsNone(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cut": `{"version":1,"lin`, "old": `{"version":0}`, "negative": `{"version":1,"lines":-1}`, "other": "line 1\n",
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

// Linux tells of a write that failed once: the next sync succeeds, without the lines.
func TestSyncThatFailsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		journal, _ := files(t)
		boom := errors.New("boom")
		failure := boom
		_, err := Run(t.Context(), strings.NewReader(numbered(1000)), Config{
			Journal: journal,
			Write:   func(context.Context, Line) error { time.Sleep(keepEvery); return nil },
			Sync: func() error {
				defer func() { failure = nil }()
				return failure
			},
		})
		if !errors.Is(err, boom) {
			t.Errorf("got %v", err)
		}
		if s, err := readJournal(journal); err != nil || s.Lines != 0 {
			t.Errorf("the journal says %d lines, %v: the sync of them failed", s.Lines, err)
		}
	})
}

// A journal that is not on disk when the store is may say less after a loss of power, and one whose
// name is there before its text says nothing. Rejects that are lost would be in no file, for the
// journal is behind their lines.
func TestFilesAreOnDisk(t *testing.T) {
	name := deaf(t)
	journal, _ := files(t)
	must.Do(t, os.Symlink(name, journal+nextSuffix))
	reject := func(context.Context, Line) error { return Reject(errors.New("bad")) }
	for want, c := range map[string]Config{
		"bulk: journal: sync ": {Journal: journal, Write: newStore().write},
		"bulk: rejects: sync ": {Rejects: name, Write: reject},
	} {
		if _, err := Run(t.Context(), strings.NewReader(numbered(1)), c); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A link to a journal stays one: the file behind it would be of an earlier moment. The file need
// not be there.
func TestJournalBehindALink(t *testing.T) {
	journal, _ := files(t)
	link := journal + ".link"
	must.Do(t, os.Symlink(journal, link))
	for n := int64(1); n <= 2; n++ {
		p, err := Run(t.Context(), strings.NewReader(numbered(int(n))), Config{Write: newStore().write, Journal: link})
		if s, err2 := readJournal(journal); err != nil || err2 != nil || p.Resumed != n-1 || s.Lines != n {
			t.Errorf("run %d: %+v, %v; the file behind the link has %d lines, %v", n, p, err, s.Lines, err2)
		}
	}
}

// A file of rejects keeps what it has from earlier imports, and over runs with another or none.
func TestRejectsOfOthersAreKept(t *testing.T) {
	journal, rejects := files(t)
	other := rejects + ".other"
	const earlier = `{"line":7,"error":"of an earlier import"}` + "\n"
	must.Do(t, os.WriteFile(other, []byte(earlier), 0o600))
	conf := Config{Journal: journal, Write: func(_ context.Context, l Line) error {
		if l.Number%5 == 0 {
			return Reject(errors.New("bad"))
		}
		return nil
	}}
	run := func(file string, lines int) error {
		conf.Rejects = file
		_, err := Run(t.Context(), strings.NewReader(numbered(lines)), conf)
		return err
	}
	if err := run("", 5); !errors.Is(err, ErrRejected) {
		t.Fatal(err)
	}
	conf.Sync = func() error { return errStop } // behind the rejects and before the journal
	if err := run(other, 5); !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	conf.Sync = nil
	must.Do(t, run(other, 5))
	must.Do(t, run("", 8))
	must.Do(t, run(other, 11))
	must.Do(t, run(rejects, 16))
	must.Do(t, run(other, 21))
	for file, want := range map[string][]int64{rejects: {15}, other: {7, 5, 10, 20}} {
		var lines []int64
		for _, r := range rejected(t, file) {
			lines = append(lines, r.Line)
		}
		if !slices.Equal(lines, want) {
			t.Errorf("%s has lines %v, want %v", file, lines, want)
		}
	}
}

// The journal of one import may be used with rejects in another folder, where a file has the same
// name.
func TestRejectsOfTheSameNameAreKept(t *testing.T) {
	journal, rejects := files(t)
	_, other := files(t)
	const earlier = `{"line":7,"error":"of another import"}` + "\n"
	must.Do(t, os.WriteFile(other, []byte(earlier), 0o600))
	s := newStore()
	must.Have(Run(t.Context(), strings.NewReader(numbered(1)), Config{Write: s.write, Journal: journal, Rejects: rejects}))(t)
	must.Have(Run(t.Context(), strings.NewReader(numbered(2)), Config{Write: s.write, Journal: journal, Rejects: other}))(t)
	if got := contents(t, other); got != earlier {
		t.Errorf("%q, want it to keep %q", got, earlier)
	}
	if got := fromFolderOf("moved/journal", "moved/rejects"); got != "rejects" {
		t.Errorf("%s, want the same after both were moved", got)
	}
}

// A run that imports nothing leaves the journal as it is: one of an import that is complete, and
// one of another source, whatever its rejects.
func TestJournalIsLeftAlone(t *testing.T) {
	journal, rejects := files(t)
	run := func(source, rejects string) error {
		_, err := Run(t.Context(), strings.NewReader(source), Config{Write: newStore().write, Journal: journal, Rejects: rejects})
		return err
	}
	must.Do(t, run(numbered(3), rejects))
	was := must.Have(os.Stat(journal))(t)
	if err := run("other\n", rejects+".other"); !errors.Is(err, ErrChanged) {
		t.Errorf("another source: %v, want ErrChanged", err)
	}
	must.Do(t, run(numbered(3), rejects))
	if is := must.Have(os.Stat(journal))(t); !os.SameFile(was, is) {
		t.Errorf("it was replaced by %s", contents(t, journal))
	}
}

// marked is a store that keeps the marks of imports beside the lines.
type marked struct {
	*store
	marks map[string]int64
	ask   func() error            // called before a mark is read; nil if nothing fails
	set   func(lines int64) error // likewise, before it is set
}

func newMarked() *marked { return &marked{store: newStore(), marks: map[string]int64{}} }

func (m *marked) Mark(_ context.Context, id string) (int64, error) {
	if m.ask != nil {
		return 0, m.ask()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.marks[id], nil
}

func (m *marked) SetMark(ctx context.Context, id string, lines int64) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if m.set != nil {
		if err := m.set(lines); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.marks[id] = lines
	return nil
}

// snapshot is a copy of the store, as a backup has it.
func (m *marked) snapshot() *marked {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := newMarked()
	c.times, c.marks = maps.Clone(m.times), maps.Clone(m.marks)
	return c
}

func (m *marked) run(t *testing.T, journal string, lines int) (Snapshot, error) {
	return Run(t.Context(), strings.NewReader(numbered(lines)), Config{Write: m.write, Journal: journal, Marks: m})
}

func contents(t *testing.T, name string) string {
	t.Helper()
	text := must.Have(os.ReadFile(name))(t)
	return string(text)
}

// A journal said that all lines were in a store that was removed.
func TestJournalOfAnotherStoreIsAnError(t *testing.T) {
	const n = 100
	journal, _ := files(t)
	first := newMarked()
	must.Have(first.run(t, journal, n/2))(t)
	older := first.snapshot()
	must.Have(first.run(t, journal, n))(t)
	other := newMarked()
	must.Have(other.run(t, journal+".other", n))(t)
	was := contents(t, journal)
	for name, s := range map[string]*marked{"removed": newMarked(), "older": older, "another": other} {
		before := len(s.times)
		p, err := s.run(t, journal, n+10)
		if !errors.Is(err, ErrStore) || p.Lines != 0 || len(s.times) != before {
			t.Errorf("%s: %d lines, %d written, %v, want ErrStore and nothing written", name, p.Lines, len(s.times)-before, err)
			continue
		}
		for _, want := range []string{journal + " says that 100 lines are in, and the store's mark says ", "remove the journal", "open the store"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v: want it to say %q", name, err, want)
			}
		}
	}
	if is := contents(t, journal); is != was {
		t.Errorf("the journal is %s, was %s", is, was)
	}
	if p, err := first.run(t, journal, n+10); err != nil || p.Resumed != n || p.Lines != n+10 {
		t.Errorf("the store of the journal: %+v, %v", p, err)
	}
	must.Do(t, os.Remove(journal))
	if p, err := older.run(t, journal, n); err != nil || p.Resumed != 0 || p.Lines != n {
		t.Errorf("begun anew: %+v, %v", p, err)
	}
	older.has(t, n)
}

// The mark is in the store before the journal says as much, and is synced with the lines.
func TestMarkComesBeforeTheJournal(t *testing.T) {
	journal, _ := files(t)
	s := newMarked()
	var order []string
	s.set = func(lines int64) error {
		order = append(order, fmt.Sprintf("mark %d", lines))
		return nil
	}
	conf := Config{Write: s.write, Journal: journal, Marks: s, Sync: func() error {
		state, err := readJournal(journal)
		order = append(order, fmt.Sprintf("sync, the journal has %d", state.Lines))
		return err
	}}
	must.Have(Run(t.Context(), strings.NewReader(numbered(1)), conf))(t)
	if got := strings.Join(order, "; "); got != "mark 1; sync, the journal has 0" {
		t.Errorf("%s: want the mark, then Sync, then the journal", got)
	}
}

func TestMarksThatFail(t *testing.T) {
	boom := errors.New("boom")
	for name, set := range map[string]func(int64) error{
		"error": func(int64) error { return boom },
		"panic": func(int64) error { panic(boom) },
		"exit":  func(int64) error { runtime.Goexit(); return nil },
	} {
		journal, _ := files(t)
		s := newMarked()
		s.set = set
		_, err := s.run(t, journal, 3)
		if err == nil || !strings.Contains(err.Error(), "bulk: Marks") {
			t.Errorf("%s of SetMark: %v", name, err)
		}
		if state, err := readJournal(journal); err != nil || state.Lines != 0 {
			t.Errorf("%s: the journal has %d lines, %v, and the store no mark", name, state.Lines, err)
		}
		s.set = nil
		if p, err := s.run(t, journal, 3); err != nil || p.Lines != 3 {
			t.Errorf("after %s: %+v, %v", name, p, err)
		}
		s.ask = func() error { return set(0) }
		if _, err = s.run(t, journal, 4); err == nil || !strings.Contains(err.Error(), "bulk: Marks") {
			t.Errorf("%s of Mark: %v", name, err)
		}
	}
}

// The mark is set also where the import was cancelled, for the lines acknowledged until then.
func TestMarkOfACancelledImport(t *testing.T) {
	journal, _ := files(t)
	s := newMarked()
	ctx, cancel := context.WithCancel(t.Context())
	s.fail = func(Line) error { cancel(); return nil }
	_, err := Run(ctx, strings.NewReader(numbered(1)), Config{Workers: 1, Write: s.write, Journal: journal, Marks: s})
	state, err2 := readJournal(journal)
	if err2 != nil || state.Lines != 1 || s.marks[state.Import] != 1 {
		t.Errorf("%v, %v: the journal has %d lines, the store %v", err, err2, state.Lines, s.marks)
	}
}

// Whatever states of store and journal meet: no line is lost without an error, and a store that is
// no older than its journal is accepted.
func TestStatesOfStoreAndJournal(t *testing.T) {
	const n = 300
	journal, _ := files(t)
	s := newMarked()
	type moment struct {
		store   *marked
		journal string
	}
	var moments []moment
	note := func() {
		if len(moments) < 20 {
			moments = append(moments, moment{s.snapshot(), contents(t, journal)})
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	var at int64
	boom := errors.New("boom")
	s.fail = func(l Line) error {
		if l.Number == at {
			return boom
		}
		return nil
	}
	s.set = func(int64) error { note(); return nil } // the lines are in, and neither the mark nor the journal
	sync := func() error { note(); return nil }      // the mark is, and not the journal
	for stopped := true; stopped; {
		at += 1 + random.Int64N(n/10)
		_, err := Run(t.Context(), strings.NewReader(numbered(n)), Config{Write: s.write, Journal: journal, Marks: s, Sync: sync})
		if stopped = errors.Is(err, boom); err != nil && !stopped {
			t.Fatal(err)
		}
		note()
	}
	for i, of := range moments {
		for j, and := range moments {
			kept := of.store.snapshot()
			must.Do(t, os.WriteFile(journal, []byte(and.journal), 0o600))
			_, err := kept.run(t, journal, n)
			switch {
			case err == nil:
				kept.has(t, n)
			case !errors.Is(err, ErrStore) || i >= j:
				t.Errorf("the store of moment %d with the journal of %d: %v", i, j, err)
			}
		}
	}
}
