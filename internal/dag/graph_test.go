package dag_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/dag"
	"github.com/weir-go/weir/internal/must"
)

// The keys that a graph remembers may be parts of the lines that the tasks were made of.
func TestKeysOfLargeTexts(t *testing.T) {
	const tasks, size = 64, 1 << 20
	g := dag.New(tasks)
	for i := range tasks {
		line := fmt.Sprint(i, strings.Repeat("x", size))
		must.Have(g.Add(line[:8], nil))(t)
		g.Done(line[:8])
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	runtime.KeepAlive(g)
	if m.HeapAlloc > tasks*size/2 {
		t.Errorf("%d MB of heap for %d short keys", m.HeapAlloc>>20, tasks)
	}
}
