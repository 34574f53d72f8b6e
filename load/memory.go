package load

import (
	"cmp"
	"context"
	"io/fs"
	"runtime/metrics"

	"github.com/weir-go/weir/internal/pages"
)

// Memory measures the memory of this process against a target. On Linux that is the resident memory
// that is not shared, which includes memory that the runtime does not know of. Elsewhere it is the
// memory of the runtime. Of mapped files it counts the pages that were written to in a private
// mapping. It does not count the pages of a shared mapping, such as the tables and logs of Badger,
// because the kernel can drop them when it needs room. It says nothing about a remote database.
type Memory struct {
	Target uint64 // in bytes. Defaults to 1.5 GB, 1,500,000,000 bytes

	fsys fs.FS
}

const defaultMemory = 1_500_000_000

// Name returns "memory".
func (*Memory) Name() string { return "memory" }

// Poll implements [Source].
func (m *Memory) Poll(context.Context) (Sample, error) {
	used, _, err := pages.Resident(cmp.Or(m.fsys, system), "self")
	if err != nil {
		used = held()
	}
	r := Reading{Name: "memory", Value: float64(used), Unit: Bytes, Limit: float64(cmp.Or(m.Target, defaultMemory))}
	return Sample{Readings: []Reading{r}}, nil
}

// held returns the memory that the runtime has from the operating system.
func held() uint64 {
	v := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(v)
	return v[0].Value.Uint64() - v[1].Value.Uint64()
}
