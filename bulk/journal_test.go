package bulk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
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

func TestAnotherSourceIsAnError(t *testing.T) {
	journal, _ := files(t)
	s := newStore()
	if _, err := Run(t.Context(), strings.NewReader(numbered(100)), Config{Write: s.write, Journal: journal}); err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(numbered(100), "line 100\n", "LINE 100\n", 1)
	for name, source := range map[string]io.Reader{
		"shorter": strings.NewReader(numbered(99)), "empty": strings.NewReader(""), "changed": strings.NewReader(other + "more\n"), "shorter pipe": struct{ io.Reader }{strings.NewReader("line 1\n")},
	} {
		if _, err := Run(t.Context(), source, Config{Write: s.write, Journal: journal}); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v, want ErrChanged", name, err)
		}
	}
	s.has(t, 100)

	journal, _ = files(t)
	long := strings.Repeat("x", 3*readBuffer)
	if _, err := Run(t.Context(), strings.NewReader(long), Config{Write: s.write, Journal: journal}); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), strings.NewReader("y"+long[1:]), Config{Write: s.write, Journal: journal}); !errors.Is(err, ErrChanged) {
		t.Errorf("a long line that begins differently: %v, want ErrChanged", err)
	}
	if p, err := Run(t.Context(), strings.NewReader(long), Config{Write: s.write, Journal: journal}); err != nil || p.Resumed != 1 {
		t.Errorf("the same long line: %+v, %v", p, err)
	}
}

func TestJournalThatIsNone(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty": "", "cut": `{"version":1,"lin`, "old": `{"version":0}`, "negative": `{"version":1,"lines":-1}`, "other": "line 1\n",
	} {
		journal := filepath.Join(dir, name)
		if err := os.WriteFile(journal, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
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

// A file that is read and written to would have its own rejects as lines, without an end.
func TestSourceIsNotWrittenTo(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(name, []byte("bad\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for field, c := range map[string]Config{"Rejects": {Rejects: name, MaxRejects: 100}, "Journal": {Journal: name}} {
		source, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer source.Close()
		c.Write = func(context.Context, Line) error { return Reject(errors.New("bad")) }
		_, err = Run(t.Context(), source, c)
		if want := field + ` is "` + name + `": want another file than the source`; !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "bad\n" {
		t.Errorf("the source is %q (%v)", text, err)
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

func TestRejectsAreKeptInOrderAndOnce(t *testing.T) {
	const n = 3000
	journal, rejects := files(t)
	const earlier = `{"line":7,"error":"of an earlier import"}` + "\n"
	if err := os.WriteFile(rejects, []byte(earlier), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newStore()
	boom := errors.New("boom")
	stop := int64(1500)
	s.fail = func(l Line) error {
		if state, known, err := readJournal(journal); !known || err != nil || state.Rejects < int64(len(earlier)) {
			return fmt.Errorf("the journal says %+v, %v: it has to know of earlier rejects from the start", state, err)
		}
		switch {
		case l.Number == stop:
			return boom
		case l.Number%10 == 0:
			return Reject(errors.New("bad"))
		}
		return nil
	}
	conf := Config{Write: s.write, Journal: journal, Rejects: rejects}
	if _, err := Run(t.Context(), strings.NewReader(numbered(n)), conf); !errors.Is(err, boom) {
		t.Fatal(err)
	}
	f, err := os.OpenFile(rejects, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"line":2990,"error":"written before the process was killed, ahead of the journal"}` + "\n"); err != nil {
		t.Fatal(err)
	}
	f.Close()

	stop = 0
	p, err := Run(t.Context(), strings.NewReader(numbered(n)), conf)
	if err != nil || p.Rejected != n/10 || p.Lines != n {
		t.Fatalf("%+v, %v", p, err)
	}
	all := rejected(t, rejects)
	if len(all) != 1+n/10 || all[0].Line != 7 {
		t.Fatalf("%d rejects, want %d and that of an earlier import", len(all), n/10)
	}
	all, text := all[1:], numbered(n)
	for i, r := range all {
		line := int64(10 * (i + 1))
		if r.Line != line || r.Error != "bad" || r.Text != "line "+strconv.FormatInt(line, 10) || r.Byte != int64(strings.Index(text, "line "+strconv.FormatInt(line, 10)+"\n")) {
			t.Fatalf("reject %d is %+v", i, r)
		}
	}
	if err := os.Truncate(rejects, 5); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), strings.NewReader(numbered(n)), conf); !errors.Is(err, ErrChanged) {
		t.Errorf("a file of rejects that was cut: %v", err)
	}
}

func TestLinesThatAreTooLongOrNoText(t *testing.T) {
	_, rejects := files(t)
	s := newStore()
	s.fail = func(l Line) error {
		if l.Number == 4 {
			return Reject(errors.New("no text"))
		}
		return nil
	}
	huge := strings.Repeat("x", 5*readBuffer)
	source := strings.Join([]string{"fits", huge, "12345678", "\xff\xfe", "123456789", "last"}, "\n")
	p, err := Run(t.Context(), strings.NewReader(source), Config{Write: s.write, Rejects: rejects, MaxLine: 8})
	if err == nil || !strings.Contains(err.Error(), "no end") {
		t.Errorf("a line of 5 MiB where 8 bytes are allowed: %+v, %v", p, err)
	}
	p, err = Run(t.Context(), strings.NewReader(source), Config{Write: s.write, Rejects: rejects, MaxLine: readBuffer})
	if err != nil || p.Lines != 6 || p.Rejected != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	all := rejected(t, rejects)
	if r := all[0]; r.Line != 2 || !r.TooLong || r.Text != huge[:keptOfLong] || !strings.Contains(r.Error, "longer than MaxLine, 1048576 bytes") {
		t.Errorf("too long: line %d, %q", r.Line, r.Error)
	}
	if r := all[1]; r.Line != 4 || r.Text != "" || string(r.Data) != "\xff\xfe" {
		t.Errorf("no text: %+v", r)
	}
	short := "12345678\n123456789\n12345678\r\n" // the end of a line is no part of it
	if p, err := Run(t.Context(), strings.NewReader(short), Config{Write: newStore().write, Rejects: rejects, MaxLine: 8}); err != nil || p.Rejected != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestWrongSourceStopsAtMaxRejects(t *testing.T) {
	_, rejects := files(t)
	p, err := Run(t.Context(), strings.NewReader(numbered(100_000)), Config{
		Rejects: rejects, MaxRejects: 50, Write: func(context.Context, Line) error { return Reject(errors.New("bad")) },
	})
	if !errors.Is(err, ErrRejected) || !strings.Contains(err.Error(), "MaxRejects is 50") || p.Rejected < 50 || p.Rejected > 50+64 {
		t.Errorf("%d rejected, %v", p.Rejected, err)
	}
}

func TestFullDiskUnderTheRejects(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	_, err := Run(t.Context(), strings.NewReader(numbered(1000)), Config{
		Rejects: "/dev/full", Write: func(context.Context, Line) error { return Reject(errors.New("bad")) },
	})
	if err == nil || !strings.Contains(err.Error(), "bulk: rejects: write /dev/full: no space left on device") {
		t.Errorf("got %v", err)
	}
}

// The last line of a source that is still being written was imported without its end.
func TestLastLineThatGrows(t *testing.T) {
	for more, want := range map[string]string{"": "", "\n": "", "\nline 3\n": "line 3", "3\n": "grown"} {
		journal, _ := files(t)
		s := newStore()
		if _, err := Run(t.Context(), strings.NewReader("line 1\nline 2"), Config{Write: s.write, Journal: journal}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			p, err := Run(t.Context(), strings.NewReader("line 1\nline 2"+more), Config{Write: s.write, Journal: journal})
			switch {
			case want == "grown":
				if !errors.Is(err, ErrChanged) || len(s.times) != 2 {
					t.Errorf("%q: %v, %v: want an error, and nothing written", more, err, s.times)
				}
			case err != nil || p.Lines != int64(2+len(want)/6):
				t.Errorf("%q: %d lines, %v", more, p.Lines, err)
			}
		}
		if want == "line 3" && (s.times[want] != 1 || len(s.times) != 3) {
			t.Errorf("%q: %v", more, s.times)
		}
	}
}

func TestImpossibleJournals(t *testing.T) {
	for _, text := range []string{
		`{"version":1,"lines":0,"offset":100,"last":0}`, `{"version":1,"lines":2,"offset":5,"last":5}`, `{"version":1,"lines":5,"offset":3,"last":2}`,
	} {
		journal, _ := files(t)
		if err := os.WriteFile(journal, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := newStore()
		if _, err := Run(t.Context(), strings.NewReader(numbered(100)), Config{Write: s.write, Journal: journal}); err == nil {
			t.Errorf("%s was accepted", text)
		}
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
