package bulk

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/internal/clock"
	"github.com/weir-go/weir/internal/isolate"
	"github.com/weir-go/weir/memory"
)

const (
	keepEvery = 200 * time.Millisecond // from one journal to the next

	farewell     = 10 * time.Second // how long Run waits for writes when the import stops
	readFarewell = time.Second      // how long it waits for a read
)

// errDone ends the context of a run that is complete.
var errDone = errors.New("bulk: done")

// Run imports the lines of a source until it ends, and returns nil after all lines are acknowledged
// and in the journal. Otherwise the error has the reason of the stop, and the line. It matches
// [ErrConfig], [ErrChanged], [ErrStore], context.Cause(ctx), or an error of Write, the source or a
// file. Run returns the last snapshot in any case. A nil ctx counts as context.Background.
//
// Run skips the lines of the journal: it seeks in an io.Seeker, and reads any other source. It
// abandons writes that have not returned 10 s after the import stopped, and a read after 1 s. The
// error reports that.
func Run(ctx context.Context, source io.Reader, c Config) (Snapshot, error) {
	ctx = cmp.Or(ctx, context.Background())
	c, err := c.complete()
	if err != nil {
		return Snapshot{}, err
	}
	if c.Journal, err = makeJournal(c.Journal); err != nil {
		return Snapshot{}, err
	}
	if err := c.checkFiles(source); err != nil {
		return Snapshot{}, err
	}
	from, err := readJournal(c.Journal)
	if err == nil {
		err = c.checkStore(ctx, from)
	}
	if err != nil {
		return Snapshot{}, err
	}
	rejects, err := openRejects(c.Rejects, c.Journal, from)
	if err != nil {
		return Snapshot{}, err
	}
	begun := from
	begun.Version, begun.Rejects, begun.RejectsName = journalVersion, rejects.size, rejects.name
	r := newRun(ctx, c, begun, rejects)
	r.begins = begun != from
	r.meter.size = sizeOf(source, c.Size)
	err = r.perform(ctx, source)
	return r.progress(), errors.Join(err, r.rejects.close())
}

// run is an import at work.
type run struct {
	conf    Config
	ctx     context.Context //nolint:containedctx // ends with the cause why the import stops: a run is one call
	stop    context.CancelCauseFunc
	window  *window
	rejects rejects // for keep alone
	work    chan *pending
	hook    isolate.Hook[Snapshot]
	begins  bool  // the journal does not know the rejects of this run
	kept    state // the state of the journal; for keep alone
	failed  bool  // keep has failed; for keep alone
	meter   meter

	lines     atomic.Int64 // acknowledged, in any order
	rejected  atomic.Int64
	waited    clock.Stopwatch // for memory
	throttled clock.Stopwatch // for the throttle
}

func newRun(ctx context.Context, c Config, from state, rejects rejects) *run {
	r := &run{conf: c, window: newWindow(from), rejects: rejects, work: make(chan *pending), kept: from}
	r.hook = isolate.Hook[Snapshot]{Name: "bulk: OnProgress", Call: c.OnProgress}
	r.ctx, r.stop = context.WithCancelCause(ctx)
	r.lines.Store(from.Lines)
	r.rejected.Store(from.Rejected)
	r.meter.begin(from)
	return r
}

// perform reads, writes and keeps the journal until the import ends.
func (r *run) perform(caller context.Context, source io.Reader) error {
	var workers sync.WaitGroup
	for range r.conf.Workers {
		workers.Go(r.write)
	}
	var reader isolate.Solo
	reader.Start(func() {
		var err error
		if exit := isolate.Call(func() { err = r.read(source) }); exit != nil {
			err = fmt.Errorf("bulk: the source %w", exit)
		}
		// A caller that stops the import may end its source before r.ctx ends.
		if err = cmp.Or(context.Cause(caller), err); err != nil {
			r.stop(err)
		}
		close(r.work)
	})
	written := make(chan struct{})
	go func() {
		workers.Wait()
		close(written)
	}()
	left := r.keepUntil(written)
	r.stop(errDone)
	err := context.Cause(r.ctx)
	if errors.Is(err, errDone) {
		err = nil
	}
	if !reader.Wait(readFarewell) {
		left = errors.Join(left, fmt.Errorf("bulk: the source does not return from Read"))
	}
	kept := r.keep()
	r.window.end()
	r.hook.Tell(r.progress())
	return errors.Join(err, left, kept, r.hook.Failure())
}

// keepUntil keeps the journal until all writes have returned. The error reports writes that do not
// return.
func (r *run) keepUntil(written <-chan struct{}) error {
	journal, progress := time.NewTicker(keepEvery), time.NewTicker(r.conf.Every)
	defer journal.Stop()
	defer progress.Stop()
	stopped := r.ctx.Done()
	var late <-chan time.Time
	for {
		var err error
		select {
		case <-written:
			return nil
		case <-late:
			return fmt.Errorf("bulk: not all writes returned within %v", farewell)
		case <-stopped:
			stopped, late = nil, time.After(farewell)
		case <-journal.C:
			err = r.keep()
		case <-progress.C:
			r.hook.Tell(r.progress())
		}
		if err != nil {
			r.stop(err)
		}
	}
}

// keep writes the rejects and then the journal, if they have changed. After a failure it writes
// nothing: the rejects of that time are lost, and a second Sync may succeed without the lines of
// the first Sync.
func (r *run) keep() error {
	if r.failed {
		return nil
	}
	err := r.record()
	r.failed = err != nil
	return err
}

func (r *run) record() error {
	all, rejected, text, holds := r.window.collect()
	err := r.rejects.append(text)
	for i := range holds {
		holds[i].Release()
	}
	if err != nil || all == r.kept.mark {
		return err
	}
	if err := r.setMark(all.Lines); err != nil {
		return err
	}
	if r.conf.Sync != nil {
		if err := guarded(r.conf.Sync); err != nil {
			return fmt.Errorf("bulk: Sync: %w", err)
		}
	}
	r.kept.mark, r.kept.Rejected, r.kept.Rejects = all, rejected, r.rejects.size
	return writeJournal(r.conf.Journal, r.kept)
}

// guarded calls a function of the caller. A panic or a Goexit in it is an error.
func guarded(call func() error) (err error) {
	if exit := isolate.Call(func() { err = call() }); exit != nil {
		return exit
	}
	return err
}

// read reads the source and hands its lines to the workers.
func (r *run) read(from io.Reader) error {
	source := stoppable{from, func() error { return context.Cause(r.ctx) }}
	at, err := skip(source, r.kept.mark)
	if errors.Is(err, ErrChanged) {
		err = fmt.Errorf("%w: want the source that %s is of, or another journal", err, r.conf.Journal)
	}
	if err == nil && r.begins && r.ctx.Err() == nil { // before the first reject
		err = writeJournal(r.conf.Journal, r.kept)
	}
	if err != nil {
		return err
	}
	in := lines{src: bufio.NewReaderSize(source, readBuffer), maxLine: r.conf.MaxLine, at: at, take: r.take}
	for {
		p, err := in.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !r.hand(&p) {
			return nil
		}
	}
}

// hand passes a line to a worker. If the import has stopped, it releases the line's bytes.
func (r *run) hand(p *pending) bool {
	select {
	case r.window.room <- struct{}{}:
	case <-r.ctx.Done():
		p.hold.Release()
		return false
	}
	r.window.add(p.mark)
	if p.tooLong {
		r.reject(p, fmt.Errorf("longer than MaxLine, %d bytes", r.conf.MaxLine))
		p.hold.Release()
		return true
	}
	select {
	case r.work <- p:
		return true
	case <-r.ctx.Done():
		p.hold.Release()
		return false
	}
}

func (r *run) take(bytes int) (memory.Hold, error) {
	if r.conf.Memory == nil {
		return memory.Hold{}, context.Cause(r.ctx)
	}
	r.waited.Start()
	defer r.waited.Stop()
	return r.conf.Memory.Acquire(r.ctx, bytes)
}

// load returns the larger load of the throttle and the governor.
func (r *run) load() float64 {
	var load float64
	if r.conf.Throttle != nil {
		load = r.conf.Throttle.Snapshot().Writes.Load
	}
	if r.conf.Memory != nil {
		load = math.Max(load, r.conf.Memory.Snapshot().Load())
	}
	return load
}
