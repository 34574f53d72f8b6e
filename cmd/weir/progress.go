package main

import (
	"fmt"
	"io"
	"strings"
)

// A progressBar is drawn in the last line of a terminal during a long command.
type progressBar struct {
	out   io.Writer
	total int
}

const barWidth = 30

// clearLine returns to the beginning of the line and erases it (ECMA-48).
const clearLine = "\r\x1b[K"

// show draws the share of the total that is done.
func (b progressBar) show(done int) {
	full := barWidth * done / b.total
	fmt.Fprintf(b.out, "%s[%s%s] %d of %d simulated", clearLine, strings.Repeat("#", full), strings.Repeat(".", barWidth-full), done, b.total)
}

func (b progressBar) clear() { fmt.Fprint(b.out, clearLine) }
