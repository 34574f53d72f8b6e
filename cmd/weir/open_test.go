package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
)

func TestDemoOpensADashboard(t *testing.T) {
	longtest.Skip(t)
	for demo, limiters := range map[string][]string{"limit": {`"adaptive"`, `"fixed"`}, "bulkhead": {`"GET /search"`, `"GET /checkout"`}} {
		t.Run(demo, func(t *testing.T) {
			opened := filepath.Join(t.TempDir(), "opened")
			script := opened + ".sh"
			must.Do(t, os.WriteFile(script, fmt.Appendf(nil, "#!/bin/sh\nprintf %%s \"$1\" >%s\n", opened), 0o700))
			t.Setenv("BROWSER", script)
			messages, in := io.Pipe()
			stop := begin(t, io.Discard, in, "demo", demo, "--open", "--duration", "3s")
			lines := bufio.NewScanner(messages)
			lines.Scan()
			address, ok := strings.CutPrefix(lines.Text(), "weir: the dashboard is on ")
			if !ok {
				t.Fatalf("said %q", lines.Text())
			}
			for _, limiter := range limiters {
				if text := firstEvent(t, address+"events"); !strings.Contains(text, limiter) {
					t.Errorf("no limiter %s in %s", limiter, text)
				}
			}
			if lines.Scan(); lines.Text() != "weir: "+address+" stays open until Ctrl-C" {
				t.Errorf("at the end: %q", lines.Text())
			}
			firstEvent(t, address+"events")
			if got, _ := os.ReadFile(opened); string(got) != address {
				t.Errorf("the browser got %q", got)
			}
			stop()
		})
	}
}

// firstEvent returns the data of the first event of a stream that shows anything.
func firstEvent(t *testing.T, address string) string {
	t.Helper()
	answer := must.Have(http.Get(address))(t)
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && !strings.HasPrefix(data, `{"login"`) {
			return data
		}
	}
	t.Fatalf("%s: %s without events", address, answer.Status)
	return ""
}
