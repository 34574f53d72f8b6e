package proxy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// file has one upstream and one more line.
func file(address, more string) string {
	return fmt.Sprintf("upstreams: {api: {addresses: [%q]}}\n%s\n", address, more)
}

func TestReloadAppliesTheFile(t *testing.T) {
	a, _ := named(t, "a")
	b, _ := named(t, "b")
	r := start(t, file(a, "compartments: {api: {initial: 7}}"))
	if _, body := r.get("/"); body != "a" {
		t.Fatalf("answered by %q", body)
	}
	must.Do(t, r.reload(file(b, "compartments: {api: {max: 5}}")))
	if _, body := r.get("/"); body != "b" {
		t.Errorf("answered by %q, want the new upstream", body)
	}
	api := r.Snapshot().ByKey["api"]
	if api.Limit != 5 || api.Admitted != 2 {
		t.Errorf("limit %d after %d requests, want 5 after 2: what was learned is kept within the new bounds", api.Limit, api.Admitted)
	}
}

func TestReloadRefuses(t *testing.T) {
	a, _ := named(t, "a")
	r := start(t, file(a, "max: 100"))
	before := r.table.Load()
	for _, test := range []struct{ file, want string }{
		{file(a, "max: 100\nroutes: [{upstream: gone}]"), `routes[0].upstream is "gone"`},
		{file(a, "max: 0"), "max"},
		{file(a, "max: 100\nprobes: {address: \"127.0.0.1:0\"}"), "probes.address"},
		{"upstreams: {", "weir.yaml"},
	} {
		err := r.reload(test.file)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want one about %s", err, test.want)
		}
		if r.table.Load() != before {
			t.Fatalf("%s: was applied", test.file)
		}
	}
	if got := r.state()["last_reload_error"]; got == nil {
		t.Error("the state does not say that the last reload failed")
	}
	if _, body := r.get("/"); body != "a" {
		t.Errorf("answered by %q, want the old upstream", body)
	}
}

// A reload that leaves max_connections alone does not warn again.
func TestFewFilesAreNamedOnce(t *testing.T) {
	a, _ := named(t, "a")
	of := func(most int) string {
		return fmt.Sprintf("listeners: [{address: '127.0.0.1:0', max_connections: %d}]\nadmin: {address: '127.0.0.1:0'}\n", most) + file(a, "")
	}
	r := startAt(t, of(1_000_000_000))
	for _, step := range []struct{ most, warnings int }{{1_000_000_000, 1}, {999_999_999, 2}, {10, 2}, {999_999_999, 3}} {
		r.write(of(step.most))
		must.Do(t, r.Reload())
		if n := strings.Count(r.said.String(), "max_connections is lowered"); n != step.warnings {
			t.Errorf("%d connections: %d warnings, want %d", step.most, n, step.warnings)
		}
	}
}

func TestOperatorsHoldALimit(t *testing.T) {
	a, _ := named(t, "a")
	r := start(t, file(a, ""))
	must.Do(t, r.Law("api", law.Fixed{Limit: 3}))
	must.Do(t, r.Shadow("api", true))
	if s := r.Snapshot().ByKey["api"]; s.Limit != 3 || !s.Shadow {
		t.Errorf("limit %d, shadow %v", s.Limit, s.Shadow)
	}
	if laws := fmt.Sprint(r.state()["laws"]); laws != "map[api:fixed(limit=3)]" {
		t.Errorf("the state has the laws %s", laws)
	}
	must.Do(t, r.Law("api", law.AIMD{}))
	if laws := fmt.Sprint(r.state()["laws"]); laws != "map[api:aimd]" {
		t.Errorf("the state has the laws %s", laws)
	}
	must.Do(t, r.Law("api", nil))
	if laws := r.state()["laws"]; laws != nil {
		t.Errorf("its own law decides again, and the state has %v", laws)
	}
	if s := r.Snapshot().ByKey["api"]; !s.Shadow {
		t.Error("letting the law decide again has ended the shadow mode")
	}
	must.Do(t, r.reload(file(a, "")))
	if s := r.Snapshot().ByKey["api"]; s.Shadow {
		t.Error("a reload leaves the shadow mode on")
	}
	if err := r.Law("gone", law.Fixed{Limit: 3}); err == nil {
		t.Error("want an error for a compartment that is not there")
	}
}

// The rights of operators follow the configuration that /-/weir/config shows.
func TestReloadChangesWhatOperatorsMayDo(t *testing.T) {
	a, _ := named(t, "a")
	r := start(t, file(a, ""))
	for _, want := range []struct {
		pprof  bool
		status int
	}{{false, 404}, {true, 200}, {false, 404}} {
		r.write(strings.Replace(addresses, `admin: {`, fmt.Sprintf(`admin: {pprof: %v, `, want.pprof), 1) + file(a, ""))
		must.Do(t, r.Reload())
		if got, _ := r.fetch(r.admin + "/debug/pprof/"); got != want.status {
			t.Errorf("pprof %v: status %d, want %d", want.pprof, got, want.status)
		}
	}
}
