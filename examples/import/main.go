// Import imports JSON lines into a Badger store, within a memory target. After it was
// stopped or killed, the next start resumes the import.
//
//	scripts/all go run ./examples/import -store /data -target 512 -key id orders.jsonl
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/dgraph-io/badger/v4"

	"github.com/weir-go/weir/bulk"
	"github.com/weir-go/weir/load/badgerload"
	"github.com/weir-go/weir/memory"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program, even while it waits for the writer of a pipe
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type settings struct {
	store, key, file string
	target           uint64 // in bytes
}

// leastTarget and mostTarget are in MiB: the minimum of package memory, and 1 PiB.
const leastTarget, mostTarget = 16, 1 << 30

func parse(args []string, out io.Writer) (s settings, err error) {
	flags := flag.NewFlagSet("import", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&s.store, "store", "store", "directory of the store; its journal and rejects are files beside it")
	flags.StringVar(&s.key, "key", "id", "field of a line that is the key of its record")
	megabytes := flags.Uint64("target", 512, "memory in MiB")
	flags.Usage = func() {
		fmt.Fprintln(out, "Usage: import [flags] FILE, of JSON lines, or - for the standard input")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	switch {
	case flags.NArg() != 1:
		return s, errors.New("import: want one file of JSON lines, or - for the standard input")
	case s.store == "":
		return s, errors.New("import: -store is empty: want a directory")
	case s.key == "":
		return s, errors.New("import: -key is empty: want the name of a field")
	case *megabytes < leastTarget || *megabytes > mostTarget:
		return s, fmt.Errorf("import: -target is %d: want %d to %d MiB", *megabytes, leastTarget, mostTarget)
	}
	s.store = filepath.Clean(s.store) // a slash at its end would put the journal into the store
	s.target, s.file = *megabytes<<20, flags.Arg(0)
	return s, nil
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	s, err := parse(args, out)
	if err != nil {
		return err
	}
	if s.file != "-" {
		file, err := os.Open(s.file)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	return s.load(ctx, in, out)
}

func (s settings) load(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	options := badgerload.Sized(badger.DefaultOptions(s.store).WithLogger(nil), s.target)
	if err := badgerload.Space(options); err != nil {
		return err
	}
	db, err := badgerload.Open(options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	mapped, err := badgerload.Mapped(db)
	if err != nil {
		return err
	}
	gov, err := memory.New(memory.Config{
		Target: s.target, Mapped: mapped,
		OnEvent: func(e memory.Event) { fmt.Fprintln(out, e) },
	})
	if err != nil {
		return err
	}
	defer gov.Close()
	go func() { _ = gov.Run(ctx) }()

	end, err := bulk.Run(ctx, in, bulk.Config{
		Write:   func(_ context.Context, l bulk.Line) error { return put(db, s.key, l) },
		Memory:  gov,
		Journal: s.store + ".journal",
		Marks:   badgerload.Marks{DB: db, Prefix: marks},
		Rejects: s.store + ".rejects",
		Sync:    db.Sync, // without it a power failure could lose records that the journal counts
		OnProgress: func(now bulk.Snapshot) {
			fmt.Fprintln(out, now)
		},
	})
	fmt.Fprintf(out, "%d lines are in, %d of them rejected", end.Lines, end.Rejected)
	if end.Rejected > 0 {
		fmt.Fprintf(out, " and kept in %s.rejects", s.store)
	}
	fmt.Fprintln(out)
	return err
}

// marks is the prefix of the keys of marks, which pair the store with its journal.
const marks = "\x00import/"

// put writes a line under its key. It rejects a line without a key and a line that the store
// cannot hold. A full disk stops the import.
func put(db *badger.DB, field string, l bulk.Line) error {
	key, err := keyOf(l.Text, field)
	if err != nil {
		return bulk.Reject(err)
	}
	if err := badgerload.Space(db.Opts()); err != nil {
		return err
	}
	return db.Update(func(tx *badger.Txn) error {
		return bulk.Reject(tx.Set(key, l.Text)) // too large, or a key that Badger does not allow
	})
}

func keyOf(line []byte, field string) ([]byte, error) {
	var record map[string]json.RawMessage
	if err := json.Unmarshal(line, &record); err != nil {
		return nil, err
	}
	text, ok := record[field]
	if !ok {
		return nil, fmt.Errorf("there is no %q: -key names the field that is the key", field)
	}
	var key string
	if err := json.Unmarshal(text, &key); err != nil || key == "" {
		return nil, fmt.Errorf("%q is no string, or empty", field)
	}
	if strings.HasPrefix(key, marks) {
		return nil, fmt.Errorf("%q begins with %q, as the marks of imports do", field, marks)
	}
	return []byte(key), nil
}
