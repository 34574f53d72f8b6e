package pages

import (
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// mapFile creates a file and maps it shared.
func mapFile(t *testing.T, name string, size int) []byte {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(int64(size)); err != nil {
		t.Fatal(err)
	}
	mapped, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(mapped) })
	return mapped
}

// The heap may reuse the address of an unmapped table.
func TestAdviceLosesNothingOfOtherMemory(t *testing.T) {
	const size = 1 << 20
	heap, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(heap) }()
	for i := range heap {
		heap[i] = 7
	}
	from := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(heap))))
	mapping{from, from + size}.advise()
	for i := range heap {
		if heap[i] != 7 {
			t.Fatalf("byte %d is lost", i)
		}
	}
}
