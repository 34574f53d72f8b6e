package pages

import (
	"os"
	"syscall"
	"testing"
	"unsafe"

	"github.com/weir-go/weir/internal/must"
)

func mapFile(t *testing.T, name string, size int) []byte {
	t.Helper()
	f := must.Have(os.Create(name))(t)
	defer f.Close()
	must.Do(t, f.Truncate(int64(size)))
	mapped := must.Have(syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED))(t)
	t.Cleanup(func() { _ = syscall.Munmap(mapped) })
	return mapped
}

// The heap may reuse the address of an unmapped table.
func TestAdviceLosesNothingOfOtherMemory(t *testing.T) {
	const size = 1 << 20
	heap := must.Have(syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON))(t)
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
