package main

import (
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

// A table that is wider than the screen continues below, with the left columns repeated.
func TestTableFitsTheScreen(t *testing.T) {
	var wide table
	wide.left = 1
	wide.row("law", "mean %", strings.Repeat("a", 32), strings.Repeat("b", 33), "± c", strings.Repeat("d", 90), "e")
	wide.row("little", "9.5", "1", "2", "3", "4", "")
	var out strings.Builder
	must.Do(t, wide.write(&out))
	want := "law     mean %  " + strings.Repeat("a", 32) + "\n" +
		"little     9.5  " + strings.Repeat(" ", 31) + "1\n" +
		"\n" +
		"law     " + strings.Repeat("b", 33) + "  ± c\n" +
		"little  " + strings.Repeat(" ", 32) + "2    3\n" +
		"\n" +
		"law     " + strings.Repeat("d", 90) + "\n" +
		"little  " + strings.Repeat(" ", 89) + "4\n" +
		"\n" +
		"law     e\n" +
		"little\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}
