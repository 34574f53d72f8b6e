package memory

import (
	"io/fs"
	"os"
	"runtime/metrics"
	"time"

	"github.com/weir-go/weir/internal/pages"
)

// meter reads the state of this process.
type meter struct {
	began   time.Time
	system  fs.FS // where Linux describes the process
	samples []metrics.Sample
}

// These figures of the runtime have this order in meter.samples.
const (
	live = iota
	collections
	total
	released
	firstOfHeap
)

func newMeter() *meter {
	m := &meter{began: time.Now(), system: os.DirFS("/")}
	for _, name := range []string{
		live:        "/gc/heap/live:bytes",
		collections: "/gc/cycles/total:gc-cycles",
		total:       "/memory/classes/total:bytes",
		released:    "/memory/classes/heap/released:bytes",
		firstOfHeap: "/memory/classes/heap/objects:bytes",
		5:           "/memory/classes/heap/unused:bytes",
		6:           "/memory/classes/heap/free:bytes",
	} {
		m.samples = append(m.samples, metrics.Sample{Name: name})
	}
	return m
}

func (m *meter) read() reading {
	metrics.Read(m.samples)
	value := func(i int) uint64 {
		if v := m.samples[i].Value; v.Kind() == metrics.KindUint64 {
			return v.Uint64()
		}
		return 0 // a later runtime may not report the figure
	}
	r := reading{
		at:        time.Since(m.began),
		runtime:   value(total) - value(released),
		live:      value(live),
		collected: value(collections),
	}
	r.fixed = r.runtime
	for i := firstOfHeap; i < len(m.samples); i++ {
		r.fixed -= value(i)
	}
	r.anonymous, r.resident = r.runtime, r.runtime // unless Linux knows better
	if known := m.resident(); known.all > 0 {
		r.anonymous, r.resident = known.anonymous, known.all
	}
	return r
}

// resident returns the resident memory by Linux, and 0 on other systems. Several goroutines may
// call it.
func (m *meter) resident() residence {
	anonymous, all, _ := pages.Resident(m.system, "self")
	return residence{anonymous, all}
}
