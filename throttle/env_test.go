package throttle

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

func TestEnvDefaults(t *testing.T) {
	s := must.Have(fromEnv("APP", []string{"PATH=/bin", "APPLE_X=1"}))(t)
	if s.Throttle.Off || s.MemoryTarget != 1400<<20 || s.Throttle.Reads.Laws[0] != readPID || s.Throttle.Writes.Laws[0] != writePID {
		t.Errorf("%+v", s)
	}
}

func TestEnv(t *testing.T) {
	s := must.Have(fromEnv("ORLY_RATE_LIMIT", strings.Fields(`
		ORLY_RATE_LIMIT_ENABLED=false ORLY_RATE_LIMIT_PRESET=import ORLY_RATE_LIMIT_TARGET_MEMORY_MB=1000
		ORLY_RATE_LIMIT_SETPOINT=0.8 ORLY_RATE_LIMIT_WRITE_SETPOINT=0.6 ORLY_RATE_LIMIT_WRITE_KP=0.6 ORLY_RATE_LIMIT_READ_KI=0.07
		ORLY_RATE_LIMIT_READ_KD=0.03 ORLY_RATE_LIMIT_WRITE_MAX_DELAY_MS=500 ORLY_RATE_LIMIT_READ_FILTER_MS=100
		ORLY_RATE_LIMIT_WRITE_LATENCY_TARGET_MS=30 ORLY_RATE_LIMIT_WRITE_QUEUE_TIMEOUT_MS=2000 ORLY_RATE_LIMIT_TICK_MS=50
		ORLY_RATE_LIMIT_WRITE_MAX_IN_FLIGHT=8 ORLY_RATE_LIMIT_READ_MAX_IN_FLIGHT=32
	`)))(t)
	w, r := s.Throttle.Writes.Laws[0].(LoadPID), s.Throttle.Reads.Laws[0].(LoadPID)
	if !s.Throttle.Off || s.MemoryTarget != 1000<<20 || s.Throttle.Tick != 50*time.Millisecond {
		t.Errorf("%+v", s)
	}
	if w.Setpoint != 0.6 || w.Kp != 0.6 || w.Ki != 0.15 || w.MaxDelay != 500*time.Millisecond {
		t.Errorf("writes %+v", w)
	}
	if r.Setpoint != 0.8 || r.Ki != 0.07 || r.Kd != 0.03 || r.Filter != 100*time.Millisecond {
		t.Errorf("reads %+v", r)
	}
	if s.Throttle.Writes.MaxInFlight != 8 || s.Throttle.Reads.MaxInFlight != 32 {
		t.Errorf("%d and %d in flight", s.Throttle.Writes.MaxInFlight, s.Throttle.Reads.MaxInFlight)
	}
	if s.Throttle.Writes.LatencyTarget != 30*time.Millisecond || s.Throttle.Writes.Queue.Timeout != 2*time.Second {
		t.Errorf("writes %+v", s.Throttle.Writes)
	}
	must.Have(New(s.Throttle))(t)
	s, err := fromEnv("APP", []string{"APP_TARGET_MEMORY_MB=1.5"})
	if err != nil || s.MemoryTarget != 3<<19 {
		t.Errorf("1.5 MB are %d bytes, %v", s.MemoryTarget, err)
	}
}

func TestEnvRefuses(t *testing.T) {
	for _, c := range []struct{ pair, want string }{
		{"P_ENABLED=maybe", "P_ENABLED"},
		{"P_PRESET=fast", "relay or import"},
		{"P_SETPOINT=NaN", "P_SETPOINT"},
		{"P_SETPOINT=0", "P_SETPOINT"},
		{"P_WRITE_KP=-1", "from 0"},
		{"P_TARGET_MEMORY_MB=0", "from 1"},
		{"P_READ_MAX_DELAY_MS=0", "P_READ_MAX_DELAY_MS"},
		{"P_READ_MAX_DELAY_MS=Inf", "P_READ_MAX_DELAY_MS"},
		{"P_WRITE_LAW=vegas", "pid, drain or concurrency"},
		{"P_WRITES_KP=1", "P_WRITES_KP is not a setting"},
		{"P_TICK_MS=0.001", "from 1 to 10000"},
		{"P_TICK_MS=60000", "from 1 to 10000"},
		{"P_WRITE_MAX_IN_FLIGHT=0", "from 1"},
		{"P_WRITE_MAX_IN_FLIGHT=1.5", "a whole number"},
		{"P_READ_MAX_IN_FLIGHT=-1", "from 1"},
		{"P_SERVICE_HOSTS=a", "P_SERVICE_HOSTS is not a setting"},
		{"P_PORTS=1", "P_PORTS is not a setting"},
	} {
		if _, err := fromEnv("P", []string{c.pair}); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.pair, err, c.want)
		}
	}
	_, err := fromEnv("P", []string{"P_SETPOINT=x", "P_WRITE_KI=y"})
	if err == nil || !strings.Contains(err.Error(), "P_SETPOINT") || !strings.Contains(err.Error(), "P_WRITE_KI") {
		t.Errorf("two mistakes: %v", err)
	}
}

func TestEnvLaws(t *testing.T) {
	for law, want := range map[string][]LoadLaw{
		"":                        {writePID, Concurrency{}},
		"P_WRITE_LAW=pid":         {writePID},
		"P_WRITE_LAW=drain":       {DrainRate{MaxDelay: time.Second}},
		"P_SETPOINT=0.85":         {writePID, Concurrency{}},
		"P_WRITE_LAW=concurrency": {Concurrency{}},
	} {
		s, err := fromEnv("P", []string{law})
		if err != nil || !slices.Equal(s.Throttle.Writes.Laws, want) {
			t.Errorf("%s: %+v, %v", law, s.Throttle.Writes.Laws, err)
		}
		tick := defaultTick
		if _, drains := want[0].(DrainRate); drains {
			tick = drainTick
		}
		if c := must.Have(s.Throttle.complete())(t); c.Tick != tick {
			t.Errorf("%s: a tick of %v, want %v", law, c.Tick, tick)
		}
	}
}

// A variable that has no effect beside a law is an error that names both.
func TestEnvUnused(t *testing.T) {
	for _, c := range []struct {
		environ string
		unused  []string
	}{
		{"P_WRITE_LAW=pid P_WRITE_KP=1 P_WRITE_MAX_DELAY_MS=5 P_SETPOINT=0.8", nil},
		{"P_WRITE_LAW=drain P_WRITE_MAX_DELAY_MS=5 P_READ_KP=1 P_SETPOINT=0.8", nil},
		{
			"P_WRITE_LAW=drain P_WRITE_SETPOINT=0.8 P_WRITE_KP=1 P_WRITE_KI=1 P_WRITE_KD=1 P_WRITE_FILTER_MS=1",
			[]string{"P_WRITE_SETPOINT", "P_WRITE_KP", "P_WRITE_KI", "P_WRITE_KD", "P_WRITE_FILTER_MS"},
		},
		{"P_READ_LAW=concurrency P_READ_KP=1 P_READ_MAX_DELAY_MS=5", []string{"P_READ_MAX_DELAY_MS", "P_READ_KP"}},
		{"P_READ_LAW=concurrency P_WRITE_LAW=drain P_SETPOINT=0.8", []string{"P_SETPOINT"}},
	} {
		_, err := fromEnv("P", strings.Fields(c.environ))
		if err == nil && c.unused == nil {
			continue
		}
		lines := strings.Split(fmt.Sprint(err), "\n")
		if len(lines) != len(c.unused) {
			t.Fatalf("%s: %v, want %d unused", c.environ, err, len(c.unused))
		}
		for i, name := range c.unused {
			if !errors.Is(err, ErrConfig) || !strings.Contains(lines[i], name+" is ") || !strings.Contains(lines[i], ": want none beside ") {
				t.Errorf("%s: %q, want %s unused", c.environ, lines[i], name)
			}
		}
	}
}

// A prefix with its underscore is the same prefix, and none is an error.
func TestEnvPrefix(t *testing.T) {
	s, err := fromEnv("X_", []string{"X_TICK_MS=50"})
	if err != nil || s.Throttle.Tick != 50*time.Millisecond {
		t.Errorf("%v, %v", s.Throttle.Tick, err)
	}
	for _, prefix := range []string{"", "_"} {
		if _, err := fromEnv(prefix, nil); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "prefix") {
			t.Errorf("%q: %v", prefix, err)
		}
	}
}

// Kubernetes announces each service to each container, in variables that begin with the service's
// name.
func TestEnvOfKubernetes(t *testing.T) {
	environ := strings.Fields(`
		APP_SERVICE_HOST=10.0.0.11 APP_SERVICE_PORT=6379 APP_SERVICE_PORT_HTTP=80 APP_PORT=tcp://10.0.0.11:6379
		APP_PORT_6379_TCP=tcp://10.0.0.11:6379 APP_PORT_6379_TCP_PROTO=tcp APP_PORT_6379_TCP_PORT=6379 APP_PORT_6379_TCP_ADDR=10.0.0.11
		APP_PORT_53_UDP=udp://10.0.0.11:53 APP_CACHE_SERVICE_HOST=10.0.0.12 APP_CACHE_PORT=tcp://10.0.0.12:6379
	`)
	must.Have(fromEnv("APP", environ))(t)
}

// The documents have each setting.
func TestEnvIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/databases.md")
	if err != nil {
		t.Skip(err)
	}
	e := environment{values: map[string]string{}}
	e.settings()
	for _, name := range e.known {
		if !strings.Contains(string(text), name) {
			t.Errorf("docs/databases.md has no row for %s", name)
		}
	}
}
