package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/weir-go/weir/bulk"
	"github.com/weir-go/weir/examples/internal/importtest"
	"github.com/weir-go/weir/internal/disk"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/storm"
	"github.com/weir-go/weir/load/badgerload"
	"github.com/weir-go/weir/memory"
)

var (
	records = flag.Int("records", 0, "how many records TestTargets imports each time; 0 skips it")
	targets = flag.String("targets", "256 512 1500", "the targets of TestTargets in MiB")
	repeats = flag.Int("repeats", 1, "how often TestTargets imports each")
	compare = flag.Bool("compare", true, "whether TestTargets imports without the governor too")
)

// A figure holds the measurements that an import reports about itself.
type figure struct {
	Seconds, Megabytes float64
	Collector          float64 // share of processor time
	Exceeded           float64 // seconds until the store first needed more than the target, 0 if it never did
	Said               float64 // seconds until the import reported that the target is too small, 0 if it did not
	Waited             float64 // seconds
	PagedOut           float64 // MiB

	importtest.Peak // as measured by the parent
}

// generated is a source of records of 200 B to 20 KB, with sizes spread evenly on a
// logarithmic scale.
type generated struct {
	left   int
	random *rand.Rand
	stock  string
	text   bytes.Buffer
}

func (g *generated) Read(p []byte) (int, error) {
	for g.text.Len() == 0 {
		if g.left == 0 {
			return 0, io.EOF
		}
		g.left--
		size := int(200 * math.Pow(100, g.random.Float64()))
		at := g.random.IntN(len(g.stock) - size)
		fmt.Fprintf(&g.text, "{\"id\":\"%016x%d\",\"text\":\"%s\"}\n", g.random.Uint64(), g.left, g.stock[at:at+size])
	}
	return g.text.Read(p)
}

// measure imports generated records and writes a figure.
func measure(args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet(measuring, flag.ContinueOnError)
	store := flags.String("store", "", "")
	megabytes := flags.Uint64("target", 0, "")
	n := flags.Int("records", 0, "")
	seed := flags.Uint64("seed", 0, "")
	governed := flags.Bool("governed", false, "")
	sized := flags.Bool("sized", true, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	target := *megabytes << 20
	options := badger.DefaultOptions(*store).WithLogger(nil)
	if *sized {
		options = badgerload.Sized(options, target)
	}
	db, err := badgerload.Open(options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conf := bulk.Config{
		Write:   func(_ context.Context, l bulk.Line) error { return put(db, "id", l) },
		Journal: *store + ".journal", Sync: db.Sync,
	}
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	watch := watch{began: time.Now(), target: target}
	if *governed {
		mapped, err := badgerload.Mapped(db)
		if err != nil {
			return err
		}
		conf.Memory, err = memory.New(memory.Config{Target: target, Mapped: mapped, OnEvent: func(memory.Event) { stop(errSaid) }})
		if err != nil {
			return err
		}
		defer conf.Memory.Close()
		go func() { _ = conf.Memory.Run(context.Background()) }()
		conf.Every, conf.OnProgress = 50*time.Millisecond, func(bulk.Snapshot) { watch.look(conf.Memory.Snapshot()) }
	}
	source := &generated{left: *n, random: rand.New(rand.NewPCG(*seed, 0)), stock: strings.ReplaceAll(string(storm.Readings()), `"`, `'`)}
	end, err := bulk.Run(ctx, source, conf)
	if err != nil && !errors.Is(err, errSaid) {
		return err
	}
	f := figure{
		Seconds: time.Since(watch.began).Seconds(), Megabytes: float64(end.Offset) / 1e6,
		Collector: collector(), Waited: end.Waited.Seconds(), Exceeded: watch.exceeded.Seconds(),
	}
	if conf.Memory != nil {
		watch.look(conf.Memory.Snapshot())
		f.Said, f.PagedOut = watch.said.Seconds(), float64(conf.Memory.Snapshot().PagedOut)/(1<<20)
	}
	return json.NewEncoder(out).Encode(f)
}

// errSaid ends a measured import after the governor has reported that the target is too
// small.
var errSaid = errors.New("the target is too small")

// watch records when a governor's store first needs more than the target, and when the
// governor reports it.
type watch struct {
	began          time.Time
	target         uint64
	exceeded, said time.Duration
}

func (w *watch) look(s memory.Snapshot) {
	if s.Need > w.target && w.exceeded == 0 {
		w.exceeded = time.Since(w.began)
	}
	if s.TooSmall && w.said == 0 {
		w.said = time.Since(w.began)
	}
}

// collector returns the share of processor time that the garbage collector has taken so far,
// without its idle time.
func collector() float64 {
	samples := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/gc/mark/idle:cpu-seconds"}, {Name: "/cpu/classes/total:cpu-seconds"}}
	metrics.Read(samples)
	return (samples[0].Value.Float64() - samples[1].Value.Float64()) / samples[2].Value.Float64()
}

// TestTargets imports generated records under memory targets, with and without the governor
// in turn, and prints a table:
//
//	scripts/all go test ./examples/import -run Targets -v -timeout 1h -records 500000 -repeats 5
func TestTargets(t *testing.T) {
	longtest.Skip(t)
	if *records == 0 {
		t.Skip("takes minutes: -records 500000 runs it")
	}
	const line = "%8v %-10s %6.0f %6.1f %9.1f %9.0f %9.0f %9.2f%% %7.1f%% %6.1fs %9.0f"
	t.Logf("%8s %-10s %6s %6s %9s %9s %9s %10s %8s %7s %9s", "MiB", "", "MB", "s", "MB/s", "anon MiB", "RSS MiB", "RSS above", "GC", "waited", "paged out")
	for _, target := range sizes(t) {
		var figures [2][]figure
		for repeat := range *repeats {
			for i, name := range []string{"ungoverned", "governed"} {
				if i == 0 && !*compare {
					continue
				}
				f := observe(t, target, *records, fmt.Sprintf("-governed=%v", i == 1), "-seed", fmt.Sprint(repeat+1000))
				figures[i] = append(figures[i], f)
				t.Logf(line, target, name, f.Megabytes, f.Seconds, f.Megabytes/f.Seconds, f.Anonymous, f.Resident, 100*f.Above, 100*f.Collector, f.Waited, f.PagedOut)
			}
		}
		if *compare {
			t.Logf("%8v governed as a share of ungoverned, median: %.2f", target, speed(figures[1])/speed(figures[0]))
		}
		for _, f := range figures[1] {
			if f.Anonymous > float64(target) {
				t.Errorf("target %v MiB: %0.f MiB of anonymous memory", target, f.Anonymous)
			}
			if f.Above >= 0.001 {
				t.Errorf("target %v MiB: resident memory above it in %.2f%% of samples", target, 100*f.Above)
			}
			if f.Collector > 0.05 {
				t.Errorf("target %v MiB: the collector took %.1f%% of the processors", target, 100*f.Collector)
			}
			if f.Said > 0 {
				t.Errorf("target %v MiB: said to be too small after %.1f s", target, f.Said)
			}
		}
	}
}

// TestStoreThatNeedsMoreThanTheTarget imports into Badger with its default options and with
// values in the tree: compaction alone needs hundreds of MiB. The governor reports that
// within 10 s, and reports nothing for a store that fits. The target is the first of
// -targets.
func TestStoreThatNeedsMoreThanTheTarget(t *testing.T) {
	longtest.Skip(t)
	if left, known := disk.Left(t.TempDir()); known && left < 5e9 {
		t.Skipf("takes 5 GB of disk, and %d MB are left: badgerload.Space refuses the store", left/1e6)
	}
	target := sizes(t)[0]
	f := observe(t, target, 200_000, "-governed=true", "-sized=false")
	t.Logf("more than %d MiB were needed after %.1f s, and that was said after %.1f s", target, f.Exceeded, f.Said)
	if f.Said == 0 || f.Exceeded > 0 && f.Said > f.Exceeded+10 {
		t.Errorf("said after %.1f s, want within 10 s of %.1f s", f.Said, f.Exceeded)
	}
	if f := observe(t, target, 20_000, "-governed=true"); f.Said > 0 {
		t.Errorf("of a store that fits it was said after %.1f s", f.Said)
	}
}

// sizes returns the targets of the flag in MiB.
func sizes(t *testing.T) (all []int) {
	t.Helper()
	for text := range strings.FieldsSeq(*targets) {
		size := must.Have(strconv.Atoi(text))(t)
		all = append(all, size)
	}
	return all
}

// speed returns the median, in MB/s.
func speed(figures []figure) float64 {
	var all []float64
	for _, f := range figures {
		all = append(all, f.Megabytes/f.Seconds)
	}
	slices.Sort(all)
	return all[len(all)/2]
}
