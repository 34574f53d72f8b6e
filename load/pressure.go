package load

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Pressure is pressure stall information of memory: the share of the last ten seconds in which some
// task waited for memory, of this process's control group (version 2) or else of the machine. It is
// a symptom: it says that memory is short, not who has it. It is unavailable where Linux does not
// report it.
type Pressure struct {
	Limit float64 // the share at which memory is at its limit, up to 1. Defaults to 0.1

	fsys fs.FS
}

const defaultPressure = 0.1

// Name returns "memory pressure".
func (*Pressure) Name() string { return "memory pressure" }

// Poll implements [Source].
func (p *Pressure) Poll(context.Context) (Sample, error) {
	fsys := cmp.Or(p.fsys, system)
	share, err := stalled(fsys, pressureFile(fsys))
	if err != nil {
		return Sample{}, err
	}
	return one(Reading{Name: "memory pressure", Value: share, Unit: Share, Limit: cmp.Or(p.Limit, defaultPressure)}), nil
}

// pressureFile is that of the control group, if it has one.
func pressureFile(fsys fs.FS) string {
	if g, err := groupOf(fsys, "memory"); err == nil && !g.v1 {
		if name := g.file("memory.pressure"); exists(fsys, name) {
			return name
		}
	}
	return "proc/pressure/memory"
}

func exists(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}

// stalled reads a line such as
//
//	some avg10=1.53 avg60=0.40 avg300=0.08 total=147535623
//
// in percent.
func stalled(fsys fs.FS, name string) (share float64, err error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return 0, missing(err)
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "some" {
			continue
		}
		percent, found := strings.CutPrefix(words[1], "avg10=")
		share, err := strconv.ParseFloat(percent, 64)
		if found && err == nil {
			return share / 100, nil
		}
	}
	return 0, fmt.Errorf("load: /%s has no avg10 of some", name)
}
