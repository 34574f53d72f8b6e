package memory_test

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/weir-go/weir/memory"
)

func Example() {
	gov, err := memory.New(memory.Config{
		Target: 512 << 20,
		Mapped: []string{"/data/*.sst"}, // what the store maps
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
		hold, err := gov.Take(ctx, len(lines.Bytes())) // before the line is copied
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
