package memory

import (
	"context"
	"io/fs"
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"github.com/weir-go/weir/load"
)

// meter reads the state of this process.
type meter struct {
	began    time.Time
	system   fs.FS // where Linux describes the process
	pressure load.Pressure
	samples  []metrics.Sample
}

// The figures of the runtime, by their place in meter.samples.
const (
	total = iota
	released
	live
	collections
	firstFixed
)

func newMeter() *meter {
	m := &meter{began: time.Now(), system: os.DirFS("/")}
	for _, name := range []string{
		total:       "/memory/classes/total:bytes",
		released:    "/memory/classes/heap/released:bytes",
		live:        "/gc/heap/live:bytes",
		collections: "/gc/cycles/total:gc-cycles",
		firstFixed:  "/memory/classes/heap/stacks:bytes",
		5:           "/memory/classes/os-stacks:bytes",
		6:           "/memory/classes/metadata/mcache/free:bytes",
		7:           "/memory/classes/metadata/mcache/inuse:bytes",
		8:           "/memory/classes/metadata/mspan/free:bytes",
		9:           "/memory/classes/metadata/mspan/inuse:bytes",
		10:          "/memory/classes/metadata/other:bytes",
		11:          "/memory/classes/other:bytes",
		12:          "/memory/classes/profiling/buckets:bytes",
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
		return 0 // a runtime that no longer reports it
	}
	r := reading{
		at:        time.Since(m.began),
		runtime:   value(total) - value(released),
		live:      value(live),
		collected: value(collections),
	}
	for i := firstFixed; i < len(m.samples); i++ {
		r.fixed += value(i)
	}
	r.anonymous, r.resident = r.runtime, r.runtime // unless Linux knows better
	if known := m.resident(); known.all > 0 {
		r.anonymous, r.resident = known.anonymous, known.all
	}
	if sample, err := m.pressure.Poll(context.Background()); err == nil {
		r.pressure = sample.Readings[0].Value
	}
	return r
}

// resident is the resident memory as Linux knows it, and 0 elsewhere. Several goroutines may ask.
func (m *meter) resident() residence {
	if resident, shared, ok := m.statm(); ok {
		return residence{anonymous: resident - min(shared, resident), all: resident}
	}
	return residence{}
}

// statm is the resident memory and its part of files.
func (m *meter) statm() (resident, shared uint64, ok bool) {
	text, err := fs.ReadFile(m.system, "proc/self/statm")
	words := strings.Fields(string(text))
	if err != nil || len(words) < 3 {
		return 0, 0, false
	}
	resident, err = strconv.ParseUint(words[1], 10, 64)
	shared, err2 := strconv.ParseUint(words[2], 10, 64)
	page := uint64(os.Getpagesize())
	return resident * page, shared * page, err == nil && err2 == nil
}
