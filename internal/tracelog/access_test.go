package tracelog

import (
	"reflect"
	"testing"
)

// TestAccessLog checks that an escaped quote does not end quoted text.
func TestAccessLog(t *testing.T) {
	template, problem := parseTemplate("combined $request_time")
	if problem != "" {
		t.Fatal(problem)
	}
	const line = `192.0.2.1 - bob [01/Mar/2026:00:00:00 +0000] "GET /\" HTTP/1.1" 200 5 "-" "a \"b\" c" 0.010`
	want := []string{
		"192.0.2.1", "bob", "01/Mar/2026:00:00:00 +0000", `GET /\" HTTP/1.1`, "200", "5", "-",
		`a \"b\" c`, "0.010",
	}
	if cells, problem := template.cut(line); problem != "" || !reflect.DeepEqual(cells, want) {
		t.Errorf("%q, %s", cells, problem)
	}
}
