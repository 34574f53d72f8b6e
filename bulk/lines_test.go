package bulk

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/memory"
)

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

// The reader's buffer may end between the \r and the \n of a line that is as long as allowed.
func TestLongestLineWhoseEndIsSplit(t *testing.T) {
	const most = readBuffer - 1
	for length, want := range map[int]int64{most: 0, most + 1: 1} {
		_, rejects := files(t)
		source := strings.Repeat("x", length) + "\r\nlast\n"
		p, err := Run(t.Context(), strings.NewReader(source), Config{Write: newStore().write, Rejects: rejects, MaxLine: most})
		if err != nil || p.Lines != 2 || p.Rejected != want {
			t.Errorf("a line of %d bytes of %d: %d of %d rejected, %v", length, most, p.Rejected, p.Lines, err)
		}
	}
}

// The last line of a source that is still being written was imported without its end.
func TestLastLineThatGrows(t *testing.T) {
	for more, want := range map[string]string{"": "", "\n": "", "\nline 3\n": "line 3", "3\n": "grown"} {
		journal, _ := files(t)
		s := newStore()
		must.Have(Run(t.Context(), strings.NewReader("line 1\nline 2"), Config{Write: s.write, Journal: journal}))(t)
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

func TestAnotherSourceIsAnError(t *testing.T) {
	journal, _ := files(t)
	s := newStore()
	must.Have(Run(t.Context(), strings.NewReader(numbered(100)), Config{Write: s.write, Journal: journal}))(t)
	other := strings.Replace(numbered(100), "line 100\n", "LINE 100\n", 1)
	for name, source := range map[string]io.Reader{
		"shorter": strings.NewReader(numbered(99)), "empty": strings.NewReader(""), "changed": strings.NewReader(other + "more\n"), "shorter pipe": struct{ io.Reader }{strings.NewReader("line 1\n")},
	} {
		if _, err := Run(t.Context(), source, Config{Write: s.write, Journal: journal}); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), journal+" is of, or another journal") {
			t.Errorf("%s: %v, want ErrChanged and the journal", name, err)
		}
	}
	s.has(t, 100)

	journal, _ = files(t)
	long := strings.Repeat("x", 3*readBuffer)
	must.Have(Run(t.Context(), strings.NewReader(long), Config{Write: s.write, Journal: journal}))(t)
	if _, err := Run(t.Context(), strings.NewReader("y"+long[1:]), Config{Write: s.write, Journal: journal}); !errors.Is(err, ErrChanged) {
		t.Errorf("a long line that begins differently: %v, want ErrChanged", err)
	}
	if p, err := Run(t.Context(), strings.NewReader(long), Config{Write: s.write, Journal: journal}); err != nil || p.Resumed != 1 {
		t.Errorf("the same long line: %+v, %v", p, err)
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

// The bytes in flight stay inside the budget of the governor, which is 256 KiB here, but for a
// longer line, which goes alone.
func TestBytesInFlightAreBounded(t *testing.T) {
	_, rejects := files(t)
	synctest.Test(t, func(t *testing.T) {
		gov := must.Have(memory.New(memory.Config{Target: 16 << 20}))(t)
		defer gov.Close()
		const budget = 256 << 10
		var mu sync.Mutex
		var now, most, large int
		count := func(size int) {
			mu.Lock()
			defer mu.Unlock()
			if now += size; size > readBuffer {
				large = now
			} else {
				most = max(most, now)
			}
		}
		line, long := strings.Repeat("x", 20<<10)+"\n", strings.Repeat("y", 2*readBuffer)+"\n"
		p, err := Run(t.Context(), strings.NewReader(strings.Repeat(line, 200)+long+strings.Repeat(line, 200)), Config{
			Memory: gov, Rejects: rejects, Write: func(_ context.Context, l Line) error {
				count(len(l.Text))
				defer count(-len(l.Text))
				if got := gov.Snapshot().InFlight; len(l.Text) > readBuffer && got != defaultMaxLine {
					t.Errorf("a line of unknown length takes %d bytes of the budget, want those of the longest", got)
				}
				time.Sleep(time.Millisecond)
				if l.Number%50 == 0 {
					return Reject(context.Canceled)
				}
				return nil
			},
		})
		if err != nil || p.Lines != 401 || p.Rejected != 8 || p.Waited == 0 {
			t.Errorf("%+v, %v", p, err)
		}
		if most > budget || most < budget/2 {
			t.Errorf("%d bytes in flight, want up to %d", most, budget)
		}
		if large != 2*readBuffer {
			t.Errorf("the long line went with %d bytes in flight", large)
		}
		if s := gov.Snapshot(); s.InFlight != 0 {
			t.Errorf("%d bytes are not given back", s.InFlight)
		}
	})
}

// Rejected lines keep their bytes until they are written: while the disk is slow, no more are read.
func TestManyRejectsInLittleMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const line, lines = "a rejected line", 1 << 16
		gov := must.Have(memory.New(memory.Config{Target: 16 << 20}))(t)
		defer gov.Close()
		_, rejects := files(t)
		var written, meanwhile atomic.Int64
		began := time.Now()
		_, err := Run(t.Context(), strings.NewReader(strings.Repeat(line+"\n", lines)), Config{
			Memory: gov, Rejects: rejects,
			Write: func(context.Context, Line) error { written.Add(1); return Reject(errors.New("bad")) },
			Sync: func() error {
				if meanwhile.Load() == 0 {
					time.Sleep(time.Minute)
					meanwhile.Store(written.Load())
				}
				return nil
			},
		})
		if took := time.Since(began); err != nil || written.Load() != lines || took > time.Minute+10*keepEvery {
			t.Errorf("%d lines in %v: %v", written.Load(), took, err)
		}
		if got, most := meanwhile.Load()*int64(len(line)), 2*int64(gov.Snapshot().Budget); got > most {
			t.Errorf("%d bytes were rejected while the first were written, want at most %d", got, most)
		}
	})
}
