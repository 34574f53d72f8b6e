package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"

	"github.com/weir-go/weir/examples/relay/gen"
	"github.com/weir-go/weir/examples/relay/protocol"
)

const authors = 10_000

func declareGen(flags *flag.FlagSet) func(context.Context, []string, streams) error {
	seed := flags.Uint64("seed", 1, "the same `number` makes the same events")
	return func(ctx context.Context, args []string, std streams) error {
		if len(args) != 1 {
			return usageError{fmt.Errorf("gen: %d arguments: want how many events", len(args))}
		}
		n, err := strconv.Atoi(args[0])
		if err != nil || n < 0 {
			return usageError{fmt.Errorf("gen: %q: want how many events, 0 or more", args[0])}
		}
		out := bufio.NewWriter(std.out)
		g := gen.New(*seed, authors)
		var line []byte
		for ; n > 0 && ctx.Err() == nil; n-- {
			e := g.Next()
			line = append(protocol.AppendJSON(line[:0], &e), '\n')
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
		return errors.Join(ctx.Err(), out.Flush())
	}
}
