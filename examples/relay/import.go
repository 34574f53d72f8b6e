package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/weir-go/weir/bulk"
	"github.com/weir-go/weir/examples/relay/protocol"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/badgerload"
	"github.com/weir-go/weir/memory"
	"github.com/weir-go/weir/throttle"
)

// importWrites is the number of lines that are verified and written at once.
const importWrites = 8

type importing struct {
	place
	journal string
	trusted bool
}

func declareImport(flags *flag.FlagSet) func(context.Context, []string, streams) error {
	i := new(importing)
	i.declare(flags)
	flags.BoolVar(&i.trusted, "trusted", false, "do not verify ids and signatures")
	return func(ctx context.Context, args []string, std streams) error {
		if len(args) != 1 {
			return usageError{fmt.Errorf("import: %d arguments: want one file, or - for the standard input", len(args))}
		}
		source, err := i.source(args[0], std.in)
		if err != nil {
			return err
		}
		defer source.Close()
		return i.open(func(events *store.Store) error { return i.load(ctx, events, source, std.out) })
	}
}

// source opens the file. The journal has its name; the standard input has none, and no journal.
func (i *importing) source(name string, in io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(in), nil
	}
	i.journal = filepath.Base(name)
	return os.Open(name)
}

func (i *importing) load(ctx context.Context, events *store.Store, source io.Reader, out io.Writer) error {
	widen()
	files := i.dir + ".imports" // the directory of the journals and rejects
	if err := os.MkdirAll(files, 0o700); err != nil {
		return err
	}
	monitor, err := load.New(load.Config{Feeds: []load.Feed{{Source: badgerload.New(events.DB())}}})
	if err != nil {
		return err
	}
	pace, err := throttle.New(throttle.Config{
		Monitor: monitor, Off: !i.throttle,
		Writes: throttle.Side{MaxInFlight: importWrites, Laws: []throttle.LoadLaw{throttle.DrainRate{}}},
	})
	if err != nil {
		return err
	}
	mapped, err := badgerload.Mapped(events.DB())
	if err != nil {
		return err
	}
	governor, err := memory.New(memory.Config{
		Target: i.megabytes << 20, Mapped: mapped,
		OnEvent: func(e memory.Event) { fmt.Fprintln(out, e) },
	})
	if err != nil {
		return err
	}
	defer governor.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for _, run := range []func(context.Context) error{monitor.Run, pace.Run, governor.Run} {
		go func() { _ = run(ctx) }()
	}
	job := bulk.Config{
		Write:   func(ctx context.Context, l bulk.Line) error { return i.write(ctx, events, l) },
		Workers: 2 * importWrites, MaxLine: protocol.Limits{}.WithDefaults().Message,
		Memory: governor, Throttle: pace, Sync: events.Sync,
		Rejects:    filepath.Join(files, cmp.Or(i.journal, "import")+".rejects"),
		OnProgress: func(now bulk.Snapshot) { fmt.Fprintln(out, now) },
	}
	if i.journal != "" {
		job.Journal, job.Marks = filepath.Join(files, i.journal+".journal"), events.Marks()
	}
	end, err := bulk.Run(ctx, source, job)
	return errors.Join(report(out, end, job.Rejects), err)
}

// write verifies and saves the event of a line. It rejects a line that is not an event, an event
// that the relay does not keep, and one that its author did not sign. An event that exists
// already or was replaced is not an error.
func (i *importing) write(ctx context.Context, events *store.Store, l bulk.Line) error {
	limits := protocol.Limits{}
	e, err := protocol.ParseEvent(l.Text, limits)
	switch {
	case err != nil:
		return bulk.Reject(err)
	case e.IsEphemeral():
		return bulk.Reject(protocol.Errorf(protocol.Invalid, "kind %d is ephemeral: it is not kept", e.Kind))
	}
	if err := limits.CheckTime(&e, time.Now()); err != nil {
		return bulk.Reject(err)
	}
	if !i.trusted {
		if err := protocol.Verify(&e); err != nil {
			return bulk.Reject(err)
		}
	}
	_, err = events.Save(ctx, &e)
	return err
}

// report prints the result. An import with nothing but rejects is an error: the file has
// another format.
func report(out io.Writer, end bulk.Snapshot, rejects string) error {
	fmt.Fprintf(out, "%d lines are in, %d of them rejected", end.Lines, end.Rejected)
	if end.Rejected > 0 {
		fmt.Fprintf(out, " and kept in %s", rejects)
	}
	fmt.Fprintln(out)
	if end.Lines > 0 && end.Rejected == end.Lines {
		return errors.New("import: no line was an event that this relay keeps")
	}
	return nil
}
