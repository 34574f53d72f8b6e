package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/must"
)

// FuzzParse checks that no text makes Parse panic or take long, that each line of an error
// names the file, that the limits of a valid configuration are accepted, and
// that it is the same when written and read again; and that JSON makes JSON.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*.yaml", "testdata/bad/*.yaml", "../../../../deploy/weir.yaml"} {
		files := must.Have(filepath.Glob(pattern))(f)
		for _, file := range files {
			text := must.Have(os.ReadFile(file))(f)
			f.Add(string(text))
		}
	}
	for _, text := range []string{
		"", "a", "- a", "? a\n: b", "{", "}", "a: |\n b", "a: 'b", "a: \"\\", "&a *a", "<<: {}", "!!a b", "%a\n---\n", "---\n---\n", "a:\n\t- b", "\xff", "#",
		strings.Repeat("[", 30), strings.Repeat("- ", 30), strings.Repeat("a: \"", 30), strings.Repeat("? ", 30), strings.Repeat("{a: ", 30), strings.Repeat("a: ", 30),
	} {
		f.Add(small + text)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		read, err := config.Parse("w", []byte(text))
		if took := time.Since(start); took > 10*time.Second { // a third of a second on an idle machine
			t.Errorf("took %v", took)
		}
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, "w:") {
					t.Errorf("no place: %q of %q", line, err)
				}
			}
			return
		}
		must.Have(bulkhead.New(read.Bulkhead()))(t)
		written := must.Have(yaml.Marshal(read))(t)
		again, err := config.Parse("again", written)
		if err != nil {
			t.Fatalf("%v in\n%s", err, written)
		}
		if !reflect.DeepEqual(again, read) {
			t.Errorf("%+v is read again as %+v", read, again)
		}
	})
}
