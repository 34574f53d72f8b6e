package main

import (
	"strings"
	"testing"
)

func TestVariablesThatSetNothingAreReported(t *testing.T) {
	env := environ{
		"HOME=/", "WEIR_QUEUE=3", "WEIR_QUEUE_TIMOUT=1s", "WEIR_NOTHING=", "WEIR_HELP=1", "WEIR_TESTS=all",
		// set by Kubernetes beside services named weir and weir-admin
		"WEIR_SERVICE_HOST=10.0.0.1", "WEIR_JOB_ID=7", "WEIR_SERVICE_PORT=80", "WEIR_SERVICE_PORT_HTTP=80", "WEIR_PORT=tcp://10.0.0.1:80",
		"WEIR_PORT_80_TCP=tcp://10.0.0.1:80", "WEIR_PORT_80_TCP_ADDR=10.0.0.1", "WEIR_ADMIN_SERVICE_HOST=10.0.0.1", "WEIR_ADMIN_PORT_80_TCP_PROTO=tcp",
	}
	status, _, said := ran(t, env, "help", "exit-codes")
	const want = `weir: WEIR_QUEUE_TIMOUT in the environment sets nothing: did you mean WEIR_QUEUE_TIMEOUT?
weir: WEIR_NOTHING in the environment sets nothing: see weir help environment
weir: WEIR_HELP in the environment sets nothing: see weir help environment
`
	if status != 0 || said != want {
		t.Errorf("status %d, got\n%swant\n%s", status, said, want)
	}
}

func TestTheEnvironmentIsListed(t *testing.T) {
	text := output(t, "help", "environment")
	for _, line := range []string{
		"  WEIR_QUEUE          proxy, sim run, sim suite, sim trace\n",
		"  WEIR_TO             proxy\n",
		"  WEIR_DURATION       demo limit, demo bulkhead, record\n",
		"  BROWSER        the command that opens an address for --open and weir replay\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
	contains(t, output(t, "proxy", "--help"), "Print the version.", "($WEIR_QUEUE_TIMEOUT).")
	for _, none := range []string{"WEIR_HELP", "WEIR_VERSION"} {
		if strings.Contains(text, none) {
			t.Errorf("%s sets nothing", none)
		}
	}
}

func TestTheFirstOfTwoVariablesCounts(t *testing.T) {
	env := environ{"A=1", "A=2", "B="}
	if env.get("A") != "1" || env.get("B") != "" || env.get("C") != "" {
		t.Errorf("%q, %q, %q: want the first, as os.Getenv does", env.get("A"), env.get("B"), env.get("C"))
	}
}
