package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weir-go/weir/cmd/weir-work/internal/command"
	"github.com/weir-go/weir/internal/handover"
	"github.com/weir-go/weir/pool/natspool"
)

// enqueue adds jobs. When it fails it prints the number of added jobs too, because these jobs are
// in the queue.
func enqueue(ctx context.Context, e handover.Enqueue, s streams) error {
	q, err := open(ctx, wanted{Queue: e.Queue})
	if err != nil {
		return err
	}
	defer q.close()
	n := 0
	add := func(payload []byte) error {
		id := rand.Text() // so that a job whose answer was lost is not added twice
		err := insist(func() error { return q.Add(ctx, id, payload) })
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
		payload, err = io.ReadAll(io.LimitReader(until(ctx, s.in), largest+1))
		switch {
		case err != nil:
		case len(payload) == 0:
			err = usageError{errors.New(`the standard input is empty: want a payload, or "" as the argument for a job without one`)}
		case len(payload) > largest:
			err = usageError{fmt.Errorf("the standard input %w", errTooLarge)}
		default:
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

// largest is the most bytes of a message that a server of NATS can be configured to take. An input
// without end must not take all memory.
const largest = 64 << 20

var errTooLarge = fmt.Errorf("has more than %d bytes: no server of NATS takes such a job", largest)

// eachLine calls add with each line that is not empty.
func eachLine(in io.Reader, add func([]byte) error) error {
	limited := &io.LimitedReader{R: in}
	lines := bufio.NewReader(limited)
	for n := 1; ; n++ {
		limited.N = largest + 1
		line, err := lines.ReadBytes('\n')
		last := errors.Is(err, io.EOF)
		switch {
		case last && limited.N == 0:
			return usageError{fmt.Errorf("line %d %w", n, errTooLarge)}
		case err != nil && !last:
			return err // the line may not be complete
		}
		if text, ended := bytes.CutSuffix(line, []byte("\n")); ended {
			line = bytes.TrimSuffix(text, []byte("\r"))
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
	q, err := open(ctx, wanted{Queue: j.Queue, exists: true})
	if err != nil {
		return err
	}
	defer q.close()
	var state natspool.Snapshot
	err = insist(func() (err error) {
		state, err = q.Snapshot(ctx)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s in %s\n%d waiting, %d running or resting before another attempt, %s\n",
		j.Stream, q.where, state.Waiting, state.Held, amount(int(state.Dead), "dead letter"))
	if state.Dead == 0 || j.Limit == 0 {
		return nil
	}
	letters, err := q.letters(ctx, j.Limit+1)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "\nletter\tjob\trejected\treason\n")
	for i, letter := range letters {
		if i == j.Limit {
			fmt.Fprint(table, "...\n")
			break
		}
		fmt.Fprintf(table, "%d\t%.64q\t%s\t%s\n", letter.Number, letter.Job.ID, letter.At.UTC().Format(time.RFC3339), strings.Map(command.Printable, letter.Reason))
	}
	return table.Flush()
}

// letters returns the oldest dead letters, up to a number, without the data of their jobs.
func (c *connection) letters(ctx context.Context, most int) (all []natspool.DeadLetter, err error) {
	err = insist(func() error {
		all = nil
		for letter, err := range c.DeadLetters(ctx) {
			if err != nil {
				return err
			}
			letter.Job.Data = nil
			if all = append(all, letter); len(all) == most {
				break
			}
		}
		return nil
	})
	return all, err
}

// requeue adds the jobs of dead letters again. With All it takes the letters that exist now: a job
// that fails again meanwhile is a new letter, and stays.
func requeue(ctx context.Context, r handover.Requeue, s streams) error {
	q, err := open(ctx, wanted{Queue: r.Queue, exists: true})
	if err != nil {
		return err
	}
	defer q.close()
	numbers := r.ID
	if r.All {
		letters, err := q.letters(ctx, math.MaxInt)
		if err != nil {
			return err
		}
		for _, letter := range letters {
			numbers = append(numbers, letter.Number)
		}
	}
	for i, number := range numbers {
		if err := q.requeue(ctx, number); err != nil {
			return fmt.Errorf("%s requeued, then: %w", amount(i, "dead letter"), err)
		}
	}
	fmt.Fprintf(s.out, "%s requeued\n", amount(len(numbers), "dead letter"))
	return nil
}

// requeue adds the job of a dead letter again. If the letter is gone after a lost answer, the lost
// answer was a success.
func (c *connection) requeue(ctx context.Context, number uint64) error {
	lost := false
	return insist(func() error {
		err := c.Requeue(ctx, number)
		if lost && errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		lost = errors.Is(err, context.DeadlineExceeded)
		return err
	})
}

func amount(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
