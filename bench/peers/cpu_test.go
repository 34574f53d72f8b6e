package peers

import (
	"math"
	"reflect"
	"time"
	"unsafe"

	"github.com/go-kratos/aegis/ratelimit/bbr"

	"github.com/weir-go/weir/sim"
)

// setCPU makes the limiter read the usage of a simulated processor. By default it reads the
// usage of this machine, which a goroutine started by the package's init samples in real
// time, and no option changes the source.
func setCPU(limiter *bbr.BBR, usage func() int64) {
	field := reflect.ValueOf(limiter).Elem().FieldByName("cpu")
	field = reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
	field.Set(reflect.ValueOf(usage).Convert(field.Type()))
}

// A processor models the processor of a server that only computes: it is fully used when the
// server runs as many jobs as it can at once. Its usage is averaged as aegis does it.
type processor struct {
	atOnce  float64
	jobs    int
	sampled time.Duration // when the next sample is due
	average int64         // in thousandths
}

const (
	cpuSample = 500 * time.Millisecond
	cpuDecay  = 0.95
)

func newProcessor(server sim.Server) *processor {
	p := &processor{sampled: cpuSample, atOnce: math.Inf(1)}
	switch s := server.(type) {
	case sim.WorkerPool:
		p.atOnce = float64(s.Workers)
	case sim.Sharing:
		p.atOnce = s.Cores
	case sim.USL:
		p.atOnce = math.Sqrt((1 - s.Alpha) / s.Beta)
	case sim.Quadratic:
		p.atOnce = s.Double
	}
	return p
}

// started adds jobs to the number of running jobs.
func (p *processor) started(now time.Duration, jobs int) {
	p.until(now)
	p.jobs += jobs
}

// until takes the samples due by now.
func (p *processor) until(now time.Duration) {
	for ; p.sampled <= now; p.sampled += cpuSample {
		use := math.Min(1000, 1000*float64(p.jobs)/p.atOnce)
		p.average = int64(float64(p.average)*cpuDecay + use*(1-cpuDecay))
	}
}

func (p *processor) usage() int64 { return p.average }

// watched is a server with a measured processor.
type watched struct {
	sim.Server
	cpu *processor
}

func (w watched) Station() (sim.Station, error) {
	s, err := w.Server.Station()
	return station{s, w.cpu}, err
}

type station struct {
	sim.Station
	cpu *processor
}

func (s station) Start(now time.Duration, job sim.Job, work time.Duration) {
	s.cpu.started(now, 1)
	s.Station.Start(now, job, work)
}

func (s station) Finish(now time.Duration) sim.Job {
	s.cpu.started(now, -1)
	return s.Station.Finish(now)
}

func (s station) Abandon(now time.Duration, job sim.Job) {
	s.cpu.started(now, -1)
	s.Station.Abandon(now, job)
}
