package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/weir-go/weir/examples/relay/store"
)

func declareStat(flags *flag.FlagSet) func(context.Context, []string, streams) error {
	p := new(place)
	p.declare(flags)
	return func(ctx context.Context, _ []string, std streams) error {
		return p.existing(func(events *store.Store) error {
			stats, err := events.Stats(ctx)
			if err != nil {
				return err
			}
			return printStats(std.out, stats)
		})
	}
}

func printStats(out io.Writer, s store.Stats) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "events\t%d\n", s.Events())
	for _, kind := range slices.Sorted(maps.Keys(s.Kinds)) {
		fmt.Fprintf(table, "  kind %d\t%d\n", kind, s.Kinds[kind])
	}
	if s.Events() > 0 {
		fmt.Fprintf(table, "oldest\t%s\n", s.Oldest.Time().UTC().Format(time.RFC3339))
		fmt.Fprintf(table, "newest\t%s\n", s.Newest.Time().UTC().Format(time.RFC3339))
	}
	fmt.Fprintf(table, "tree\t%.1f MB\n", float64(s.Tree)/1e6)
	fmt.Fprintf(table, "value log\t%.1f MB\n", float64(s.Log)/1e6)
	return table.Flush()
}
