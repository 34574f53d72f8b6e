package memory_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weir-go/weir/memory"
)

func Example() {
	gov, err := memory.New(memory.Config{
		Target: 512 << 20,
		Mapped: []string{"/data/*.sst"}, // mapped by the store
		OnEvent: func(e memory.Event) {
			fmt.Println(e) // target of 512 MB below what the store needs: 610 MB
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gov.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { _ = gov.Run(ctx) }()

	lines := bufio.NewScanner(strings.NewReader("one\ntwo\n"))
	for lines.Scan() {
		hold, err := gov.Acquire(ctx, len(lines.Bytes())) // before the line is copied
		if err != nil {
			fmt.Println(err)
			return
		}
		line := lines.Text()
		fmt.Println("write", line)
		hold.Release() // once the write is acknowledged
	}
	// Output:
	// write one
	// write two
}

// A server keeps bytes for each client, and refuses one that does not fit.
func ExampleGovernor_TryAcquireKept() {
	gov, err := memory.New(memory.Config{Target: 64 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gov.Close()
	subscription, err := gov.TryAcquireKept(6 << 20)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := gov.TryAcquireKept(3 << 20); errors.Is(err, memory.ErrFull) {
		fmt.Println("refused: come back later")
	}
	subscription.Release() // the client has left
	fmt.Println(gov.Snapshot().Kept, "bytes are kept")
	// Output:
	// refused: come back later
	// 0 bytes are kept
}
