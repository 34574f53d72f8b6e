// Command weir-plot draws the charts of weir, which starts it for --plot:
//
//	weir sim run kata --law little --plot kata.svg
//
// It stands apart from weir because it needs a plotting library of many modules. It reads a
// chart as JSON on its input and writes it to the named file, .svg or .png.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/weir-go/weir/internal/chart"
)

func main() {
	if err := run(os.Args[1:], os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "weir-plot:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader) error {
	if len(args) != 1 {
		return errors.New("want one argument, the file to draw to; weir gives it, with a chart on the input, for --plot FILE")
	}
	c, err := chart.Read(in)
	if err != nil {
		return err
	}
	return write(args[0], c)
}
