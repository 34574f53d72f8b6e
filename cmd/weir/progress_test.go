package main

import (
	"strings"
	"testing"
)

func TestProgressBar(t *testing.T) {
	for done, want := range map[int]string{
		0: "[..............................] 0 of 4 simulated",
		3: "[######################........] 3 of 4 simulated",
		4: "[##############################] 4 of 4 simulated",
	} {
		var out strings.Builder
		bar := progressBar{out: &out, total: 4}
		bar.show(done)
		if got := strings.TrimPrefix(out.String(), clearLine); got != want {
			t.Errorf("%d: %q, want %q", done, got, want)
		}
		bar.clear()
		if !strings.HasSuffix(out.String(), want+clearLine) {
			t.Errorf("%d: not cleared: %q", done, &out)
		}
	}
}
