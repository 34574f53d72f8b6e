package bulk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/memory"
	"github.com/weir-go/weir/throttle"
)

func TestLinesArriveOnceWithTheirPlace(t *testing.T) {
	long := strings.Repeat("x", 3*readBuffer)
	source := "one\ntwo\r\n\n" + long + "\nlast"
	for name, reader := range map[string]io.Reader{
		"whole": strings.NewReader(source), "byte by byte": iotest.OneByteReader(strings.NewReader(source)), "end with data": iotest.DataErrReader(strings.NewReader(source)),
	} {
		s := newStore()
		p, err := Run(t.Context(), reader, Config{Write: s.write})
		if err != nil || p.Lines != 5 || p.Offset != int64(len(source)) || p.InFlight != 0 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		offset := int64(0)
		for i, want := range []string{"one", "two", "", long, "last"} {
			l := s.lines[int64(i+1)]
			if string(l.Text) != want || l.Offset != offset || s.times[want] != 1 {
				t.Errorf("%s: line %d is %.20q at byte %d, want %.20q at %d, once", name, i+1, l.Text, l.Offset, want, offset)
			}
			offset += int64(len(want)) + 1
			if want == "two" {
				offset++
			}
		}
	}
	if p, err := Run(nil, strings.NewReader(""), Config{Write: newStore().write}); err != nil || p.Lines != 0 { //nolint:staticcheck // a nil context counts as Background
		t.Errorf("no lines: %+v, %v", p, err)
	}
}

// A line that hangs does not let the others run ahead without bound. If it stops the import, the
// line that waits behind them gives its bytes back.
func TestReadingWaitsForTheOldestLine(t *testing.T) {
	for _, failure := range []error{nil, errStop} {
		synctest.Test(t, func(t *testing.T) {
			gov := must.Have(memory.New(memory.Config{Target: 1 << 30}))(t)
			defer gov.Close()
			var others atomic.Int64
			hang := make(chan struct{})
			ended := make(chan error)
			go func() {
				_, err := Run(t.Context(), strings.NewReader(strings.Repeat("x\n", 2*mostAhead)), Config{Memory: gov, Write: func(_ context.Context, l Line) error {
					if l.Number == 1 {
						<-hang
						return failure
					}
					others.Add(1)
					return nil
				}})
				ended <- err
			}()
			time.Sleep(time.Minute)
			if n := others.Load(); n != mostAhead-1 {
				t.Errorf("%d lines are written beyond the first, want %d", n, mostAhead-1)
			}
			close(hang)
			if err := <-ended; !errors.Is(err, failure) || err == nil && others.Load() != 2*mostAhead-1 {
				t.Errorf("%d lines, %v", others.Load(), err)
			}
			if s := gov.Snapshot(); s.InFlight != 0 {
				t.Errorf("%d bytes are in flight after %v", s.InFlight, failure)
			}
		})
	}
}

// The load is that of the governor, where there is no throttle or its is less.
func TestProgressTellsTheLoad(t *testing.T) {
	gov := must.Have(memory.New(memory.Config{Target: 16 << 20}))(t)
	defer gov.Close()
	go func() { _ = gov.Run(t.Context()) }()
	for gov.Snapshot().Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if p, err := Run(t.Context(), strings.NewReader("x"), Config{Memory: gov, Write: newStore().write}); err != nil || p.Load == 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestProgressTellsRateAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []Snapshot
		source := strings.Repeat(strings.Repeat("x", 99)+"\n", 1000)
		last, err := Run(t.Context(), strings.NewReader(source), Config{
			Workers: 1, Size: int64(len(source)),
			Write: func(_ context.Context, l Line) error {
				time.Sleep(100 * time.Millisecond)
				if l.Number > 600 { // it becomes slower
					time.Sleep(100 * time.Millisecond)
				}
				return nil
			},
			OnProgress: func(p Snapshot) { heard = append(heard, p) },
		})
		if err != nil || len(heard) < 139 || len(heard) > 142 {
			t.Fatalf("heard %d times in 140 s: %v", len(heard), err)
		}
		if p := heard[49]; p.Rate < 9 || p.Rate > 11 || p.ByteRate < 900 || p.ByteRate > 1100 || p.Left < 45*time.Second || p.Left > 55*time.Second || p.Elapsed != 50*time.Second {
			t.Errorf("in the middle: %+v (%v), want 10 lines, 1000 bytes per second, 50 s left", p, p)
		}
		if p := heard[79]; p.Rate < 4.5 || p.Rate > 5.5 {
			t.Errorf("20 s after it became slower: %v, want 5 lines per second", p)
		}
		if last.Lines != 1000 || last.Left != 0 || last.Offset != last.Size {
			t.Errorf("at the end: %+v", last)
		}
		endless, err := Run(t.Context(), strings.NewReader("x"), Config{
			Size:  1 << 60, // at 1 B/s, longer than a time.Duration
			Write: func(context.Context, Line) error { time.Sleep(time.Second); return nil },
		})
		if err != nil || endless.ByteRate != 1 || endless.Left != 0 {
			t.Errorf("of an import of 36 billion years: %+v, %v", endless, err)
		}
	})
}

// An import that waits for the throttle says so while it waits.
func TestWaitShowsWhileItLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := must.Have(throttle.New(throttle.Config{Writes: throttle.Side{MaxInFlight: 1, Queue: weir.Queue{Timeout: time.Hour}}}))(t)
		other := must.Have(th.Acquire(t.Context(), throttle.Write, 1))(t)
		var waited time.Duration
		_, err := Run(t.Context(), strings.NewReader(numbered(20)), Config{Throttle: th, Workers: 8, Write: newStore().write, OnProgress: func(p Snapshot) {
			if p.Elapsed == 10*time.Second {
				waited = p.Throttled
				other.Done(nil)
			}
		}})
		if err != nil || waited != 80*time.Second {
			t.Errorf("%v, 8 workers have waited for %v in 10 s", err, waited)
		}
	})
}

// A line that the throttle refuses is tried again, and the time is told.
func TestThrottleThatRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := must.Have(throttle.New(throttle.Config{Writes: throttle.Side{MaxInFlight: 1, Queue: weir.Queue{Size: 1, Timeout: time.Millisecond}}}))(t)
		s := newStore()
		p, err := Run(t.Context(), strings.NewReader(numbered(20)), Config{Throttle: th, Workers: 8, Write: func(ctx context.Context, l Line) error {
			time.Sleep(100 * time.Millisecond)
			return s.write(ctx, l)
		}})
		if err != nil || p.Throttled < time.Second {
			t.Errorf("%v, throttled for %v", err, p.Throttled)
		}
		refused := th.Snapshot().Writes.Limiter.Refused
		if n := refused[weir.ReasonQueueFull] + refused[weir.ReasonQueueTimeout]; n == 0 || n > 400 {
			t.Errorf("%d tries of 6 workers were refused in 2 s, want some, each after the time that the last one named", n)
		}
		s.has(t, 20)
		for _, fail := range []func(context.Context, Line) error{
			func(context.Context, Line) error { panic("boom") },
			func(context.Context, Line) error { return errStop },
		} {
			before := th.Snapshot().Writes.Limiter.Failed
			_, err = Run(t.Context(), strings.NewReader("x"), Config{Throttle: th, Write: fail})
			if failed := th.Snapshot().Writes.Limiter.Failed - before; err == nil || failed != 1 {
				t.Errorf("%d failures for the throttle after %v, want 1", failed, err)
			}
		}
		th.Close()
		if _, err := Run(t.Context(), strings.NewReader("x"), Config{Throttle: th, Write: s.write}); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("of a throttle that is closed: %v", err)
		}
	})
}

func TestWhatStopsAnImport(t *testing.T) {
	boom := errors.New("no space left on device")
	cause := errors.New("why")
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, rejects := files(t)
	at3 := func(then func() error) func(context.Context, Line) error {
		return func(ctx context.Context, l Line) error {
			if l.Number == 3 {
				return then()
			}
			return nil
		}
	}
	for name, test := range map[string]struct {
		ctx    context.Context //nolint:containedctx // an argument
		source io.Reader
		conf   Config
		want   []string
		is     error
	}{
		"a full disk":      {conf: Config{Write: at3(func() error { return boom })}, want: []string{"stopped at line 3, byte 14: no space left"}, is: boom},
		"a broken error":   {conf: Config{Write: at3(func() error { return Reject((*fs.PathError)(nil)) }), Rejects: rejects}, want: []string{"line 3, byte 14", "panicked in Write"}},
		"a panic":          {conf: Config{Write: at3(func() error { panic("boom") })}, want: []string{"line 3, byte 14", "panicked in Write: boom"}},
		"no rejects":       {conf: Config{Write: at3(func() error { return Reject(boom) })}, want: []string{"line 3, byte 14", "no space", "set Config.Rejects"}, is: ErrRejected},
		"cancelled":        {ctx: cancelled, conf: Config{Write: newStore().write}, is: cause},
		"a source breaks":  {source: io.MultiReader(strings.NewReader("one\ntwo\nthr"), iotest.ErrReader(boom)), conf: Config{Write: newStore().write}, want: []string{"the source failed after line 2, byte 8"}, is: boom},
		"a source panics":  {source: reader(func(p []byte) (int, error) { return len(p) + 1, nil }), conf: Config{Write: newStore().write}, want: []string{"the source panicked"}},
		"a source is idle": {source: reader(func([]byte) (int, error) { return 0, nil }), conf: Config{Write: newStore().write}, is: io.ErrNoProgress},
		"no end of a line": {source: zeros{}, conf: Config{Write: newStore().write, MaxLine: 64 << 10}, want: []string{"line 1, at byte 0, has no end"}},
	} {
		ctx, source := test.ctx, test.source
		if ctx == nil {
			ctx = t.Context()
		}
		if source == nil {
			source = strings.NewReader(numbered(1000))
		}
		p, err := Run(ctx, source, test.conf)
		if err == nil || test.is != nil && !errors.Is(err, test.is) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q in it", name, err, want)
			}
		}
		if name == "a source breaks" && p.Lines != 2 {
			t.Errorf("%s: %d lines are in, want 2", name, p.Lines)
		}
	}
}

// notYet is a cancelled context whose end has not reached derived contexts yet.
type notYet struct{ context.Context } //nolint:containedctx // it is one

func (notYet) Done() <-chan struct{} { return nil }

func TestCauseOfTheCallerGoesBeforeTheSource(t *testing.T) {
	cause := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for _, source := range []io.Reader{iotest.ErrReader(errors.New("closed")), strings.NewReader("")} {
		if _, err := Run(notYet{ctx}, source, Config{Write: newStore().write}); !errors.Is(err, cause) {
			t.Errorf("%v, want %v", err, cause)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestWhatDoesNotReturnIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		hang := make(chan struct{})
		began := time.Now()
		_, err := Run(ctx, reader(func([]byte) (int, error) { <-hang; return 0, io.EOF }), Config{Write: newStore().write})
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "does not return from Read") || time.Since(began) > 3*time.Second {
			t.Errorf("a source that hangs: %v after %v", err, time.Since(began))
		}
		ctx, stop = context.WithTimeout(t.Context(), time.Second)
		defer stop()
		began = time.Now()
		_, err = Run(ctx, strings.NewReader("one\n"), Config{Write: func(context.Context, Line) error { <-hang; return nil }})
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "not all writes returned") || time.Since(began) > 12*time.Second {
			t.Errorf("a write that hangs: %v after %v", err, time.Since(began))
		}
		close(hang)
		synctest.Wait()
	})
}

// An import that reads up to the line of its journal can be stopped meanwhile.
func TestStopsWhileItSkips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		journal, _ := files(t)
		must.Do(t, os.WriteFile(journal, []byte(`{"version":1,"lines":1,"offset":1000000000000,"last":0}`), 0o600))
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		reads := 0
		began := time.Now()
		_, err := Run(ctx, reader(func(p []byte) (int, error) {
			reads++
			time.Sleep(100 * time.Millisecond)
			return len(p), nil
		}), Config{Journal: journal, Write: newStore().write})
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "does not return") || took > time.Minute+readFarewell/2 {
			t.Errorf("%v after %v", err, took)
		}
		before := reads
		time.Sleep(time.Minute)
		if reads > before {
			t.Errorf("%d reads after its end", reads-before)
		}
	})
}

type reader func([]byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

// A worker that is ended by Write, and a hook that panics, are errors too.
func TestCodeThatEndsItsGoroutine(t *testing.T) {
	var once sync.Once
	th := must.Have(throttle.New(throttle.Config{}))(t)
	defer th.Close()
	_, err := Run(t.Context(), strings.NewReader(numbered(100)), Config{Throttle: th, Write: func(context.Context, Line) error {
		once.Do(runtime.Goexit)
		return nil
	}})
	if err == nil || !strings.Contains(err.Error(), "the worker ended its goroutine") {
		t.Errorf("%v", err)
	}
	if held := th.Snapshot().Writes.Limiter.InFlight; held != 0 {
		t.Errorf("%d permits are held by workers that are no more", held)
	}
	s := newStore()
	p, err := Run(t.Context(), strings.NewReader(numbered(100)), Config{Write: s.write, OnProgress: func(Snapshot) { panic("boom") }})
	if err == nil || !strings.Contains(err.Error(), "OnProgress panicked: boom") || p.Lines != 100 {
		t.Errorf("%v after %d lines", err, p.Lines)
	}
	s.has(t, 100)
}

// A file that is read and written to would have its own rejects as lines, without an end.
func TestSourceIsNotWrittenTo(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lines.next")
	must.Do(t, os.WriteFile(name, []byte("bad\n"), 0o600))
	journal := strings.TrimSuffix(name, ".next") // which is replaced by way of the source
	for want, c := range map[string]Config{
		"Rejects is " + strconv.Quote(name):    {Rejects: name},
		"Journal is " + strconv.Quote(name):    {Journal: name},
		"Journal is " + strconv.Quote(journal): {Journal: journal},
	} {
		source := must.Have(os.Open(name))(t)
		defer source.Close()
		c.Write = func(context.Context, Line) error { return Reject(errors.New("bad")) }
		_, err := Run(t.Context(), source, c)
		if want += ": want another file than the source"; !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "bad\n" {
		t.Errorf("the source is %q (%v)", text, err)
	}
}

// Without a journal, no file replaces one.
func TestSourceOfAnyName(t *testing.T) {
	t.Chdir(t.TempDir())
	must.Do(t, os.WriteFile(".next", []byte("a\n"), 0o600))
	source := must.Have(os.Open(".next"))(t)
	defer source.Close()
	if end, err := Run(t.Context(), source, Config{Write: newStore().write}); err != nil || end.Lines != 1 {
		t.Errorf("%d lines, %v", end.Lines, err)
	}
}

// Other spellings of a path lead to the same file.
func TestRejectsAreNotTheJournal(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	for _, rejects := range []string{"j", "./j", filepath.Join(folder, "j"), "../" + filepath.Base(folder) + "/j", "./j.next"} {
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
		"Size": {Write: write, Size: -1}, "Every": {Write: write, Every: -1}, "Journal": {Write: write, Marks: newMarked()},
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
