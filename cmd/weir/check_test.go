package main

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
)

func TestCheckCountsWhatThereIs(t *testing.T) {
	for _, test := range []struct{ file, want string }{
		{"internal/config/testdata/good/small.yaml", " is valid: 1 listener, 1 upstream, 1 route, 1 compartment\n"},
		{"../../deploy/weir.yaml", " is valid: 1 listener, 2 upstreams, 6 routes, 3 compartments\n"},
	} {
		var stdout bytes.Buffer
		if err := run(t.Context(), []string{"check", test.file}, environmentOf(""), &stdout, io.Discard); err != nil {
			t.Error(err)
		}
		if got := stdout.String(); got != test.file+test.want {
			t.Error(got)
		}
	}
}

func TestCheckHearsTheEnvironment(t *testing.T) {
	var stdout, stderr bytes.Buffer
	err := run(t.Context(), []string{"check", "internal/config/testdata/good/small.yaml"}, environmentOf("WEIR__LOG__FORMAT=xml"), &stdout, &stderr)
	if status := exitStatus(err, &stderr); status != 2 || stdout.Len() > 0 {
		t.Errorf("status %d, stdout %q", status, &stdout)
	}
	if got, want := stderr.String(), "weir: WEIR__LOG__FORMAT: log.format is \"xml\": want auto, text or json\n"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestSchemaIsJSON(t *testing.T) {
	var stdout bytes.Buffer
	if err := run(t.Context(), []string{"schema"}, environmentOf(""), &stdout, io.Discard); err != nil {
		t.Fatal(err)
	}
	var schema struct{ Title string }
	if err := json.Unmarshal(stdout.Bytes(), &schema); err != nil || schema.Title != "The file of weir proxy" {
		t.Errorf("%v: %q", err, schema.Title)
	}
}
