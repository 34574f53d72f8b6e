package main

import (
	"encoding/json"
	"testing"
)

func TestCheckSaysThatAFileIsValid(t *testing.T) {
	const file = "internal/config/testdata/good/small.yaml"
	if got := output(t, "check", file); got != file+" is valid\n" {
		t.Error(got)
	}
}

func TestSchemaIsJSON(t *testing.T) {
	var schema struct{ Title string }
	if err := json.Unmarshal([]byte(output(t, "schema")), &schema); err != nil || schema.Title != "The file of weir proxy" {
		t.Errorf("%v: %q", err, schema.Title)
	}
}
