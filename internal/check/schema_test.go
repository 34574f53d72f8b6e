package check

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/weir-go/weir/internal/must"
)

// TestSchemaOfTheProxy checks with a JSON schema validator that the schema of weir proxy
// accepts the files that package config accepts, and refuses files with a wrong form.
func TestSchemaOfTheProxy(t *testing.T) {
	const dir = "../../cmd/weir/internal/config/"
	schema := must.Have(jsonschema.NewCompiler().Compile(dir + "schema.json"))(t)
	good := glob(t, dir+"testdata/good/*.yaml")
	for _, file := range append(good, "../../deploy/weir.yaml") {
		if err := schema.Validate(instance(t, file)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, file := range glob(t, dir+"testdata/bad/*.yaml") {
		if schema.Validate(instance(t, file)) == nil {
			t.Errorf("%s is valid by the schema, and package config refuses it", file)
		}
	}
}

func glob(t *testing.T, pattern string) []string {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	return files
}

// instance reads a YAML file into the JSON values of the validator.
func instance(t *testing.T, file string) any {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err = yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return value
}
