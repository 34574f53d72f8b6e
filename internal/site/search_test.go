package main

import (
	"fmt"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

func TestEntriesOfTheSearch(t *testing.T) {
	p := &page{Path: "a/", Title: "Title", Body: `<h1 id="t">Title</h1><p>One <b>two</b>.</p><h2 id="b">B <a href="#b">#</a></h2><p>three</p><ul><li>four</li></ul><style>no</style>`}
	entries := must.Have(p.entries())(t)
	want := `[{"a/" "Title" "" "Title" "One two ."} {"a/" "Title" "b" "B" "three four"}]`
	if got := fmt.Sprintf("%q", entries); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
