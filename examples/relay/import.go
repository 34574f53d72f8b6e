package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"github.com/weir-go/weir/bulk"
	"github.com/weir-go/weir/examples/relay/relay"
)

type importing struct {
	place
	to, journal string
	trusted     bool
}

func declareImport(flags *flag.FlagSet) func(context.Context, []string, streams) error {
	i := new(importing)
	i.declare(flags)
	i.declareThrottle(flags)
	flags.StringVar(&i.to, "to", "", "internal `URL` of a relay that runs, such as http://localhost:7778. Empty to open the store")
	flags.StringVar(&i.journal, "journal", "", "`name` by which the same import goes on after a kill. Empty for the file's name, and for none with -")
	flags.BoolVar(&i.trusted, "trusted", false, "do not verify ids and signatures, as of a file that export wrote")
	return func(ctx context.Context, args []string, std streams) error {
		if len(args) != 1 {
			return usageError{fmt.Errorf("import: %d arguments: want one file, or - for the standard input", len(args))}
		}
		if i.journal != "" && !relay.Named(i.journal) {
			return usageError{fmt.Errorf("import: -journal is %q: want %s", i.journal, relay.NameWanted)}
		}
		source, err := i.source(args[0], std.in)
		if err != nil {
			return err
		}
		defer source.Close()
		if i.to != "" {
			return i.send(ctx, source, std.out)
		}
		return i.load(ctx, source, std)
	}
}

// source opens the file. The journal gets the name of the file unless a flag names it.
func (i *importing) source(name string, in io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(in), nil
	}
	i.journal = cmp.Or(i.journal, filepath.Base(name))
	return os.Open(name)
}

func (i *importing) load(ctx context.Context, source io.Reader, std streams) error {
	conf := relay.Config{Logger: slog.New(slog.NewTextHandler(std.err, nil))}
	return i.run(ctx, conf, func(ctx context.Context, server *relay.Server) error {
		name := i.journal
		name = cmp.Or(name, "import")
		job := relay.Import{
			Trusted: i.trusted, Rejects: filepath.Join(i.imports(), name+".rejects"),
			OnProgress: func(now bulk.Snapshot) { fmt.Fprintln(std.out, now) },
		}
		if i.journal != "" {
			job.Journal = filepath.Join(i.imports(), i.journal+".journal")
		}
		end, err := server.Import(ctx, source, job)
		return errors.Join(report(std.out, end, job.Rejects), err)
	})
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

// send makes a running relay import the source.
func (i *importing) send(ctx context.Context, source io.Reader, out io.Writer) error {
	to, err := url.Parse(i.to)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return usageError{fmt.Errorf("import: -to is %q: want the internal URL of a relay, such as http://localhost:7778", i.to)}
	}
	to = to.JoinPath("import")
	query := url.Values{}
	if i.journal != "" {
		query.Set("journal", i.journal)
	}
	if i.trusted {
		query.Set("trusted", "true")
	}
	to.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), source)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusMethodNotAllowed { // the address is the listener for clients
		return fmt.Errorf("import: -to is %q: want the relay's -internal address, such as http://localhost:7778", i.to)
	}
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
		return fmt.Errorf("%s: %s: %s", to, answer.Status, text)
	}
	return follow(answer.Body, out)
}

// follow prints the reports in the answer until its end.
func follow(answer io.Reader, out io.Writer) error {
	lines := json.NewDecoder(answer)
	for {
		var now struct {
			bulk.Snapshot
			Done  bool
			Error string
		}
		switch err := lines.Decode(&now); {
		case err != nil:
			return fmt.Errorf("the relay broke off: run the import again, and it goes on from its journal: %w", err)
		case now.Error != "":
			return errors.New(now.Error)
		case now.Done:
			return report(out, now.Snapshot, "the relay's directory of imports")
		}
		fmt.Fprintln(out, now.Snapshot)
	}
}
