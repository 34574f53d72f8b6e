package disk

import (
	"syscall"
	"testing"
)

func TestFreeCountsFragments(t *testing.T) {
	if got := free(&syscall.Statfs_t{Bavail: 10_000, Bsize: 1 << 20, Frsize: 4096}); got != 40_960_000 {
		t.Errorf("%d bytes, want 10,000 fragments", got)
	}
}
