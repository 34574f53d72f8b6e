package retry

import (
	"testing"
	"time"
)

// However often an attempt fails, the next one comes after one and a half MaxWait at the latest.
func TestPauseIsBounded(t *testing.T) {
	c, err := New(Config{Backoff: 100 * time.Millisecond, MaxWait: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < 100; n++ {
		if pause := c.pause(n, 0); pause < 50*time.Millisecond || pause > 300*time.Millisecond {
			t.Errorf("%v after attempt %d: want 50ms to 300ms", pause, n)
		}
	}
}
