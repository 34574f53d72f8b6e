package peers

import (
	"bufio"
	"encoding/binary"
	"flag"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir/sim"
)

var java = flag.String("java", "", "folder of bench/java, once compiled: run Netflix's limits too")

// The limits of bench.Limits.
const (
	netflixGradient  = 0
	netflixGradient2 = 1
	netflixVegas     = 2
	netflixAIMD      = 3
)

// netflixPeers returns Netflix's limits in its SimpleLimiter: with windows of a second,
// which its documentation uses for Gradient2, with windows of the minimum length, and sample
// by sample, which is how SimpleLimiter uses Vegas by default.
func netflixPeers(t testing.TB) []peer {
	t.Helper()
	if *java == "" {
		return nil
	}
	m := startMachine(t, *java)
	netflix := func(name string, kind int32, window time.Duration) peer {
		return peer{name, func(b sim.Limiter, _ *processor) sim.Gate {
			return &simple{machine: m, limit: b.Initial, window: window, id: m.make(kind, window, true, b)}
		}}
	}
	return []peer{
		netflix("netflix-gradient2", netflixGradient2, time.Second),
		netflix("netflix-gradient2(window=100ms)", netflixGradient2, 100*time.Millisecond),
		netflix("netflix-gradient", netflixGradient, time.Second),
		netflix("netflix-gradient(window=100ms)", netflixGradient, 100*time.Millisecond),
		netflix("netflix-vegas", netflixVegas, 0),
		netflix("netflix-aimd", netflixAIMD, 0),
	}
}

// simple behaves like SimpleLimiter, with a limit in another process: it counts the work in
// flight, and reports each completion to the limit as the interceptor of gRPC servers does.
type simple struct {
	machine         *machine
	id              int32
	limit, inflight int

	window time.Duration // 0 for none
	closes time.Duration // no answer from before then can change the limit
}

// shortest is the lowest latency that a WindowedLimit accepts as a sample.
const shortest = 100 * time.Microsecond

func (s *simple) Limit() int { return s.limit }

func (s *simple) Acquire(began time.Duration) (func(time.Duration, sim.Outcome), bool) {
	if s.inflight >= s.limit {
		return nil, false
	}
	s.inflight++
	among := s.inflight
	return func(now time.Duration, how sim.Outcome) {
		s.inflight--
		s.ended(began, now, among, how == sim.Timeout)
	}, true
}

// ended reports completed work to the limit. It waits for an answer only if the limit may
// have changed.
func (s *simple) ended(began, now time.Duration, among int, dropped bool) {
	latency := max(1, now-began)
	if s.window > 0 && (now <= s.closes || latency < shortest) {
		s.machine.tell(s.id, began, latency, among, dropped)
		return
	}
	s.limit = s.machine.sample(s.id, began, latency, among, dropped)
	s.closes = now + s.window
}

// A machine is a process running bench.Limits.
type machine struct {
	mu  sync.Mutex
	in  *bufio.Writer
	out *bufio.Reader
}

func startMachine(t testing.TB, folder string) *machine {
	t.Helper()
	cmd := exec.Command("java", "-cp", "target/classes:target/dependency/*", "bench.Limits")
	cmd.Dir = folder
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("bench.Limits: %v", err)
		}
	})
	return &machine{in: bufio.NewWriter(in), out: bufio.NewReader(out)}
}

// These are the requests to bench.Limits.
const (
	makeLimit byte = iota
	askSample
	tellSample // it has no answer
)

// make creates a limit and returns its number. Without probes its answers do not depend on a
// random number.
func (m *machine) make(kind int32, window time.Duration, probes bool, b sim.Limiter) int32 {
	return m.ask(makeLimit, kind, int32(window.Milliseconds()), probes, int32(b.Min), int32(b.Max), int32(b.Initial))
}

// sample reports completed work to a limit and returns the limit after it.
func (m *machine) sample(id int32, began, latency time.Duration, inflight int, dropped bool) int {
	return int(m.ask(askSample, id, int64(began), int64(latency), int32(inflight), dropped))
}

// tell is sample for work that cannot change the limit.
func (m *machine) tell(id int32, began, latency time.Duration, inflight int, dropped bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.write(tellSample, id, int64(began), int64(latency), int32(inflight), dropped)
}

func (m *machine) ask(question ...any) (answer int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.write(question...)
	must(0, m.in.Flush())
	must(0, binary.Read(m.out, binary.BigEndian, &answer))
	return answer
}

func (m *machine) write(question ...any) {
	for _, part := range question {
		must(0, binary.Write(m.in, binary.BigEndian, part))
	}
}
