package law

import (
	"testing"
	"unsafe"
)

// A process may hold a hundred thousand limiters; 112 is a size class of the
// allocator.
func TestBandControllerSize(t *testing.T) {
	if size := unsafe.Sizeof(bandController{}); size > 112 {
		t.Errorf("%d bytes, want at most 112", size)
	}
}
