package badgerload_test

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load/badgerload"
)

func TestSpace(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("known on Linux only")
	}
	dir := t.TempDir()
	const most = 1 << 60 // no disk has as much
	fits := badger.DefaultOptions(filepath.Join(dir, "not", "made", "yet")).WithMemTableSize(1 << 10)
	must.Do(t, badgerload.Space(fits))
	err := badgerload.Space(fits.WithMemTableSize(most / 30))
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), fits.Dir+" has ") || !strings.Contains(err.Error(), " MB at once") {
		t.Error(err)
	}
	if err := badgerload.Space(fits.WithMemTableSize(most / 30).WithInMemory(true)); err != nil {
		t.Errorf("in memory: %v", err)
	}
	if err := badgerload.Space(badger.DefaultOptions("/proc/self/status/no")); err != nil {
		t.Errorf("of a file system that does not tell: %v", err)
	}
}
