package terminal

import (
	"math"
	"os"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

func TestFilesAreNoTerminals(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	null := must.Have(os.OpenFile(os.DevNull, os.O_WRONLY, 0))(t)
	defer null.Close()
	for _, file := range []*os.File{w, null} {
		if _, _, ok := Size(file); ok || Is(file) {
			t.Errorf("%s is taken for a terminal", file.Name())
		}
	}
}

func TestDrawKeepsTheLastRowFree(t *testing.T) {
	frame := []Row{{In(Bold, "ab"), In("", "cd")}, Plain("x"), Plain("y")}
	if got, want := Draw(frame, 3, 3, true), "\x1b[H\x1b[K\x1b[1mab\x1b[0mc\r\n\x1b[Kx\x1b[J"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestBars(t *testing.T) {
	got := Bars([]float64{math.NaN(), 0, 8, 16, 99}, 16, 2)
	if got[0] != "   ██" || got[1] != " ▁███" {
		t.Errorf("%q", got)
	}
}
