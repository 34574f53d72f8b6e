package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/weir-go/weir/internal/handover"
	"github.com/weir-go/weir/pool/natspool"
)

// enqueue adds jobs. It says how many were added also when it fails, because these are there.
func enqueue(ctx context.Context, e handover.Enqueue, s streams) error {
	q, err := open(ctx, e.Queue, nil)
	if err != nil {
		return err
	}
	defer q.close()
	n := 0
	add := func(payload []byte) error {
		err := q.Add(ctx, "", payload)
		if err == nil {
			n++
		}
		return err
	}
	switch {
	case e.Lines:
		err = eachLine(until(ctx, s.in), add)
	case len(e.Payload) > 0:
		for _, payload := range e.Payload {
			if err = add([]byte(payload)); err != nil {
				break
			}
		}
	default:
		var payload []byte
		if payload, err = io.ReadAll(until(ctx, s.in)); err == nil {
			err = add(payload)
		}
	}
	fmt.Fprintf(s.out, "%s added to %s in %s\n", amount(n, "job"), e.Stream, q.where)
	return err
}

// until returns a reader of in that ends with ctx: an interrupt must end a command that waits for a
// terminal.
func until(ctx context.Context, in io.Reader) io.Reader {
	read, written := io.Pipe()
	go func() {
		_, err := io.Copy(written, in)
		written.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { written.CloseWithError(context.Cause(ctx)) })
	return read
}

// eachLine calls add with each line that is not empty.
func eachLine(in io.Reader, add func([]byte) error) error {
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadBytes('\n')
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return err // the line may be a part of one
		}
		if n := len(line); n > 0 && line[n-1] == '\n' {
			line = line[:n-1]
		}
		if len(line) > 0 {
			if err := add(line); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
	}
}

// list shows the state of a stream, and its first dead letters.
func list(ctx context.Context, j handover.Jobs, s streams) error {
	q, err := open(ctx, j.Queue, nil)
	if err != nil {
		return err
	}
	defer q.close()
	state, err := q.Snapshot(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s in %s\n%d waiting, %d running or resting before another attempt, %s\n",
		j.Stream, q.where, state.Waiting, state.Held, amount(int(state.Dead), "dead letter"))
	if state.Dead == 0 || j.Limit == 0 {
		return nil
	}
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "\nletter\tjob\trejected\treason\n")
	shown := 0
	for letter, err := range q.DeadLetters(ctx) {
		if err != nil {
			return errors.Join(err, table.Flush())
		}
		if shown++; shown > j.Limit {
			fmt.Fprint(table, "...\n")
			break
		}
		fmt.Fprintf(table, "%d\t%q\t%s\t%s\n", letter.Number, letter.Job.ID, letter.At.UTC().Format(time.RFC3339), strings.Map(printable, letter.Reason))
	}
	return table.Flush()
}

// printable replaces control characters: the reason may be from any program.
func printable(r rune) rune {
	if !unicode.IsPrint(r) {
		return '?'
	}
	return r
}

// requeue has dead letters tried again.
func requeue(ctx context.Context, r handover.Requeue, s streams) error {
	numbers, err := numbersOf(r.ID)
	if err != nil {
		return err
	}
	q, err := open(ctx, r.Queue, nil)
	if err != nil {
		return err
	}
	defer q.close()
	if r.All {
		if numbers, err = all(ctx, q.Queue); err != nil {
			return err
		}
	}
	for i, number := range numbers {
		if err := q.Requeue(ctx, number); err != nil {
			return fmt.Errorf("%s requeued, then: %w", amount(i, "dead letter"), err)
		}
	}
	fmt.Fprintf(s.out, "%s requeued\n", amount(len(numbers), "dead letter"))
	return nil
}

func numbersOf(words []string) (numbers []uint64, err error) {
	for _, word := range words {
		n, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			return nil, usageError{fmt.Errorf("%q is no dead letter: want a number of the first column of weir jobs", word)}
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// all returns the dead letters that there are now: one that fails again is a new one.
func all(ctx context.Context, q *natspool.Queue) (numbers []uint64, err error) {
	for letter, err := range q.DeadLetters(ctx) {
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, letter.Number)
	}
	return numbers, nil
}

func amount(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
