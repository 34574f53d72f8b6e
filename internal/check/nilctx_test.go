package check_test

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulk"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/edge"
	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/fleet/pgfleet"
	"github.com/weir-go/weir/fleet/storetest"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/sqlload"
	"github.com/weir-go/weir/memory"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/retry"
	"github.com/weir-go/weir/shed"
	"github.com/weir-go/weir/sim"
	"github.com/weir-go/weir/throttle"
	"github.com/weir-go/weir/trust"
	"github.com/weir-go/weir/weirhttp"
)

// must returns a value without its error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// none is the nil context.
var none context.Context

// takesContext has a call with a nil context for each exported function and method that
// takes one, by package and name.
var takesContext = map[string]func(*testing.T){
	"dash *Refusals.Add":      func(*testing.T) { new(dash.Refusals).Add(none, "", &weir.RefusedError{}) },
	"fleet *Member.Leave":     calls(must(fleet.Join(fleet.Config{Store: storetest.NewMemory(), Actuator: fleet.Limiter(limiter())})).Leave),
	"fleet SaveState":         func(*testing.T) { _ = fleet.SaveState(none, storetest.NewMemory(), "a", []byte("{}")) },
	"fleet LoadState":         func(*testing.T) { _, _ = fleet.LoadState(none, storetest.NewMemory(), "a") },
	"fleet *Counter.Count":    calls((&fleet.Counter{Host: "127.0.0.1"}).Count),
	"pgfleet New":             func(*testing.T) { _, _ = pgfleet.New(none, sql.OpenDB(unreachable{}), pgfleet.Config{Fleet: "a"}) },
	"pgfleet *Store.Write":    func(*testing.T) { _ = unreachableStore().Write(none, fleet.Write{Key: "a"}) },
	"pgfleet *Store.Watch":    func(*testing.T) { _ = unreachableStore().Watch(none, "a", func(fleet.Entry) {}) },
	"storetest *Memory.Write": calls(storetest.NewMemory().Write, fleet.Write{Key: "a"}),
	"storetest *Memory.Watch": func(t *testing.T) {
		s := storetest.NewMemory()
		if err := s.Watch(none, "", func(fleet.Entry) { go s.Fail(true) }); !errors.Is(err, storetest.ErrDown) {
			t.Error(err)
		}
	},
	"sim RunContext":           func(*testing.T) { _, _ = sim.RunContext(none, sim.Scenario{}, nil, 1) },
	"weir PriorityFrom":        func(*testing.T) { weir.PriorityFrom(none) },
	"weir TenantFrom":          func(*testing.T) { weir.TenantFrom(none) },
	"weir WithPriority":        func(*testing.T) { weir.WithPriority(none, weir.PriorityHigh) },
	"weir WithTenant":          func(*testing.T) { weir.WithTenant(none, "a") },
	"weir Do":                  calls(weir.Do[int], limiter(), func(ctx context.Context) (int, error) { return 1, ctx.Err() }),
	"weir AcquireN":            calls(weir.AcquireN, limiter(), 1),
	"weir Full":                calls(weir.Full, limiter()),
	"weir *Limiter.Do":         calls(limiter().Do, alive),
	"weir *Limiter.Acquire":    calls(limiter().Acquire),
	"weir *Limiter.AcquireN":   calls(limiter().AcquireN, 1),
	"weir *Limiter.DoN":        calls(limiter().DoN, 1, alive),
	"weir *Limiter.Full":       calls(limiter().Full),
	"weir *Limiter.TryAcquire": calls(limiter().TryAcquire),
	"weir *Limiter.Shutdown":   calls(limiter().Shutdown),

	"bulkhead *Set.Do":            calls(set().Do, "k", alive),
	"bulkhead *Set.Acquire":       calls(set().Acquire, "k"),
	"bulkhead *Set.AcquireN":      calls(set().AcquireN, "k", 1),
	"bulkhead *Set.DoN":           calls(set().DoN, "k", 1, alive),
	"bulkhead *Set.Full":          calls(set().Full, "k"),
	"bulkhead *Set.TryAcquire":    calls(set().TryAcquire, "k"),
	"bulkhead *Set.Shutdown":      calls(set().Shutdown),
	"bulkhead *Handle.Do":         calls(handle().Do, alive),
	"bulkhead *Handle.Acquire":    calls(handle().Acquire),
	"bulkhead *Handle.AcquireN":   calls(handle().AcquireN, 1),
	"bulkhead *Handle.DoN":        calls(handle().DoN, 1, alive),
	"bulkhead *Handle.Full":       calls(handle().Full),
	"bulkhead *Handle.TryAcquire": calls(handle().TryAcquire),

	"throttle *Throttle.Acquire": calls(newThrottle().Acquire, throttle.Read, 1),
	"throttle *Throttle.Do":      calls(newThrottle().Do, throttle.Read, 1, alive),
	"throttle *Throttle.Run":     func(t *testing.T) { runs(t, newThrottle().Run, throttle.ErrRunning) },

	"load *Monitor.Run": func(t *testing.T) { runs(t, monitor().Run, load.ErrRunning) },
	"load *CPU.Poll":    func(*testing.T) { _, _ = new(load.CPU).Poll(none) },
	"load *Cgroup.Poll": func(*testing.T) { _, _ = new(load.Cgroup).Poll(none) },
	"load *Memory.Poll": func(*testing.T) { _, _ = new(load.Memory).Poll(none) },

	"memory *Governor.Acquire": func(t *testing.T) { calls(governor(t).Acquire, 1)(t) },
	"memory *Governor.Run":     func(t *testing.T) { runs(t, governor(t).Run, memory.ErrRunning) },
	"bulk Run":                 calls(bulk.Run, strings.NewReader("line\n"), bulk.Config{Write: func(ctx context.Context, _ bulk.Line) error { return ctx.Err() }}),

	"weirhttp BodyStatus": func(t *testing.T) {
		if status := weirhttp.BodyStatus(none, errors.New("broken")); status != http.StatusBadRequest {
			t.Errorf("status %d", status)
		}
	},

	"sqlload *ConnPool.Poll": func(*testing.T) { _, _ = (&sqlload.ConnPool{DB: sql.OpenDB(unreachable{})}).Poll(none) },
	"sqlload *Postgres.Poll": func(*testing.T) { _, _ = (&sqlload.Postgres{DB: sql.OpenDB(unreachable{})}).Poll(none) },

	"capacity *Capacity.Acquire": calls(slots.Acquire, must(slots.Request(capacity.Vector{"slots": 1}))),
	"pool *Pool.Run": func(t *testing.T) {
		for _, err := range newPool(func(ctx context.Context) (any, error) { return nil, ctx.Err() }).Run(none) {
			if err != nil {
				t.Error(err)
			}
		}
	},
	"pool Report": func(*testing.T) { pool.Report(none, 1) },

	"retry *Client.Do":            calls(must(retry.New(retry.Config{})).Do, alive),
	"retry *Throttler.TryAcquire": calls(must(retry.NewThrottler(retry.ThrottlerConfig{})).TryAcquire),
	"retry *Call.Try": func(t *testing.T) {
		again, err := must(retry.New(retry.Config{})).Call().Try(none, func() retry.Answer { return retry.Answer{Outcome: weir.Overloaded} })
		if err != nil || !again {
			t.Errorf("again: %v, %v", again, err)
		}
	},

	"shed *Shedder.Full": calls(must(shed.New(monitor(), shed.Config{})).Full),

	"trust Told": func(*testing.T) { trust.Told(none, []string{"high"}, []string{"2"}) },
	"trust Peers.WithPriority": func(*testing.T) {
		trust.Peers(func(trust.Peer) bool {
			return true
		}).WithPriority(none, trust.Peer{}, []string{"high"}, []string{"2"})
	},

	"edge ContextOutcome": func(*testing.T) { edge.ContextOutcome(none) },
	"edge ErrorOutcome": func(t *testing.T) {
		if got := edge.ErrorOutcome(none, errors.New("odd")); got != weir.Failure {
			t.Error(got)
		}
	},
}

func limiter() *weir.Limiter { return must(weir.New(weir.Config{Law: law.Fixed{Limit: 1}})) }

func set() *bulkhead.Set {
	return must(bulkhead.New(bulkhead.Config{Default: bulkhead.Compartment{Config: weir.Config{Law: law.Fixed{}}}}))
}

func handle() *bulkhead.Handle { return must(set().Handle("k")) }

func monitor() *load.Monitor {
	return must(load.New(load.Config{Sources: []load.Source{new(load.CPU)}}))
}

// governor returns the governor of the process until the test ends.
func governor(t *testing.T) *memory.Governor {
	g := must(memory.New(memory.Config{}))
	t.Cleanup(g.Close)
	return g
}

func newThrottle() *throttle.Throttle {
	return must(throttle.New(throttle.Config{Monitor: monitor()}))
}

var slots = must(capacity.New(capacity.Vector{"slots": 1}))

func newPool(run func(context.Context) (any, error)) *pool.Pool {
	return must(pool.New(pool.Config{
		Capacity: slots,
		Source:   pool.Slice([]pool.Task{{Key: "a", Run: run}}),
	}))
}

func unreachableStore() *pgfleet.Store {
	return must(pgfleet.New(none, sql.OpenDB(unreachable{}), pgfleet.Config{Fleet: "a", ReadOnly: true}))
}

// An unreachable database panics on a nil context as a driver would.
type unreachable struct{}

func (unreachable) Connect(ctx context.Context) (driver.Conn, error) {
	return nil, cmp.Or(ctx.Err(), errors.New("unreachable"))
}
func (unreachable) Driver() driver.Driver { return nil }

// calls returns a test that calls a function with a nil context and the other arguments, and gives
// back its results. An error fails the test.
func calls(f any, others ...any) func(*testing.T) {
	arguments := []reflect.Value{reflect.Zero(reflect.TypeFor[context.Context]())}
	for _, other := range others {
		arguments = append(arguments, reflect.ValueOf(other))
	}
	return func(t *testing.T) {
		for _, result := range reflect.ValueOf(f).Call(arguments) {
			switch result := result.Interface().(type) {
			case error:
				t.Error(result)
			case interface{ Release() }:
				result.Release()
			}
		}
	}
}

// alive is work that fails under a context that has ended.
func alive(ctx context.Context) error { return ctx.Err() }

// runs starts a loop twice, which nothing ends: the second call fails because the first one
// runs. A panic of the loop would end the test.
func runs(t *testing.T, run func(context.Context) error, running error) {
	t.Helper()
	ended := make(chan error)
	for range 2 {
		go func() { ended <- run(none) }()
	}
	if err := <-ended; !errors.Is(err, running) {
		t.Errorf("ended: %v", err)
	}
}

func TestNilContextCountsAsBackground(t *testing.T) {
	for name, call := range takesContext {
		t.Run(name, call)
	}
	for name := range exported(t) {
		if takesContext[name] == nil {
			t.Errorf("%s takes a context, and nothing calls it with nil", name)
		}
	}
}

var (
	method = regexp.MustCompile(`^method \((\S+)\) (\w+)\(([^)]*)`)
	free   = regexp.MustCompile(`^func (\w+)(?:\[[^\]]*\])?\((.*)`)
)

// exported returns the functions and methods that take a context, except interface methods,
// from the golden API.
func exported(t *testing.T) map[string]bool {
	found := map[string]bool{}
	files := must(filepath.Glob("../rules/testdata/api/*.txt"))
	if len(files) < 10 {
		t.Fatalf("%d packages", len(files))
	}
	for _, file := range files {
		dir := strings.TrimSuffix(filepath.Base(file), ".txt")
		interfaces := map[string]bool{}
		text := must(os.ReadFile(file))
		lines := bufio.NewScanner(strings.NewReader(string(text)))
		for lines.Scan() {
			line := lines.Text()
			if of, ok := strings.CutPrefix(line, "type "); ok && strings.Contains(line, "interface") {
				interfaces[strings.Fields(of)[0]] = true
			}
			if m := method.FindStringSubmatch(line); m != nil && !interfaces[m[1]] &&
				strings.Contains(m[3], "context.Context") {
				found[dir+" "+m[1]+"."+m[2]] = true
			}
			if m := free.FindStringSubmatch(line); m != nil && strings.HasPrefix(m[2], "ctx context.Context") {
				found[dir+" "+m[1]] = true
			}
		}
	}
	return found
}
