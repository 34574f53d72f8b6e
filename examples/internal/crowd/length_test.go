package crowd

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

// The documents promise short examples: readers who compare libraries read an example to its
// end.
func TestExamplesAreUnder100Lines(t *testing.T) {
	for _, name := range []string{"http", "worker", "writer"} {
		path := filepath.Join("..", "..", name, "main.go")
		source := must.Have(os.ReadFile(path))(t)
		if lines := bytes.Count(source, []byte("\n")); lines >= 100 {
			t.Errorf("%s has %d lines: want under 100, as docs/start.md says", path, lines)
		}
	}
}
