package config

import (
	"bytes"
	_ "embed"
)

// A test of this package writes the schema from the types and their tags.
//
//go:embed schema.json
var schema []byte

// Schema returns the JSON schema of the file (draft 2020-12), for editors and other tools.
// [Parse] refuses every file that the schema refuses.
func Schema() []byte { return bytes.Clone(schema) }
