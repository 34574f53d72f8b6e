package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/protocol"
	"github.com/weir-go/weir/examples/relay/store"
)

func declareExport(flags *flag.FlagSet) func(context.Context, []string, streams) error {
	p := new(place)
	p.declare(flags)
	return func(ctx context.Context, _ []string, std streams) error {
		return p.existing(func(events *store.Store) error {
			out := bufio.NewWriter(std.out)
			return errors.Join(export(ctx, events, out, std.err), out.Flush())
		})
	}
}

const exportSlice = 10_000 // keys per read, which takes some milliseconds

// export writes all events except those with corrupt records, which it reports. A
// bufio.Writer keeps its first error.
func export(ctx context.Context, events *store.Store, out *bufio.Writer, complaints io.Writer) error {
	cursor := events.Query(nostr.Filter{})
	var text []byte
	corrupt := 0
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		more, err = cursor.Next(exportSlice, func(e *nostr.Event) bool {
			text = append(protocol.AppendJSON(text[:0], e), '\n')
			_, failed := out.Write(text)
			return failed == nil
		})
		if _, failed := out.Write(nil); failed != nil {
			return failed
		}
		switch {
		case errors.Is(err, store.ErrCorrupt):
			corrupt++
			fmt.Fprintln(complaints, "relay: export leaves out a record:", err)
		case err != nil:
			return err
		}
	}
	if corrupt > 0 {
		return fmt.Errorf("export: %d corrupt left out; all others are written", corrupt)
	}
	return nil
}
