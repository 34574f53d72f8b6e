//go:build linux

package pages

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

// The number of a file may end an address, and its path may have spaces.
func TestMappingsOfFilesThatMatch(t *testing.T) {
	const maps = `c000000000-c004000000 rw-p 00000000 00:00 0
7f0000000000-7f0000200000 rw-s 00000000 fe:00 131                        /data/000012.sst
7f0000400000-7f0000600000 rw-s 00000000 fe:00 132                        /data/my store/000013.sst
7f0000800000-7f0000a00000 rw-p 00000000 fe:00 131                        /data/000012.sst
7f0000c00000-7f0000e00000 rw-s 00000000 fe:00 133                        /data/00001.mem
7f0001000000-7f0001200000 r--s 00000000 fe:00 134                        /data/000014.sst (deleted)
7f0001400000-7f0001401000 rw-s 00000000 fe:00 1000                       /data/000015.sst
garbage
zz-yy rw-s 00000000 fe:00 131                        /data/000012.sst
`
	got := mappings(maps, []string{"/data/*.sst", "/data/my store/*"})
	want := []mapping{{0x7f0000000000, 0x7f0000200000}, {0x7f0000400000, 0x7f0000600000}, {0x7f0001400000, 0x7f0001401000}}
	if !slices.Equal(got, want) {
		t.Errorf("%x, want %x: private mappings and other files are left alone", got, want)
	}
}

// Reclaimed pages keep their contents.
func TestPagesAreTakenBackWithoutLoss(t *testing.T) {
	const size = 8 << 20
	name := filepath.Join(t.TempDir(), "table.sst")
	mapped := mapFile(t, name, size)
	for i := range mapped {
		mapped[i] = byte(i >> 12)
	}
	before := resident(t)
	if advised := Out([]string{filepath.Join(filepath.Dir(name), "*.sst")}); advised != size {
		t.Skipf("%d bytes were taken back of %d: this kernel has no MADV_PAGEOUT", advised, size)
	}
	after := resident(t)
	if before-min(after, before) < size/2 {
		t.Errorf("resident memory %d before and %d after", before, after)
	}
	for i := 0; i < size; i += 4096 {
		if mapped[i] != byte(i>>12) {
			t.Fatalf("byte %d is lost", i)
		}
	}
	if Out([]string{"/elsewhere/*"}) != 0 {
		t.Error("pages of other files were taken back")
	}
}

func resident(t *testing.T) uint64 {
	t.Helper()
	_, all, err := Resident(os.DirFS("/"), "self")
	must.Do(t, err)
	return all
}
