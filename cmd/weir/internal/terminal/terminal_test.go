package terminal

import (
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
