package main

import (
	"encoding/json"
	"testing"
)

func TestCheckCountsWhatThereIs(t *testing.T) {
	for _, test := range []struct{ file, want string }{
		{"internal/config/testdata/good/small.yaml", " is valid: 1 listener, 1 upstream, 1 route, 1 compartment\n"},
		{"../../deploy/weir.yaml", " is valid: 1 listener, 2 upstreams, 6 routes, 3 compartments\n"},
	} {
		if got := output(t, "check", test.file); got != test.file+test.want {
			t.Error(got)
		}
	}
}

func TestSchemaIsJSON(t *testing.T) {
	var schema struct{ Title string }
	if err := json.Unmarshal([]byte(output(t, "schema")), &schema); err != nil || schema.Title != "The file of weir proxy" {
		t.Errorf("%v: %q", err, schema.Title)
	}
}
