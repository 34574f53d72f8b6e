package admin

import (
	"fmt"
	"maps"
	"slices"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/dash"
)

const dashPath = "/-/weir/dash"

// dashboard returns the page of the compartments. It requires the same access as requests that only
// read. A browser cannot send the token in a header, so the page asks for it.
func (p Proxy) dashboard(a *access) (*dash.Handler, error) {
	settings := dash.Config{Read: p.compartments, Tables: p.tables, Refusals: p.Refusals, Public: a.near, Hosts: a.hosts}
	if a.token != "" {
		settings.Token = func() (string, error) { return config.ReadToken(a.token) }
		settings.Law, settings.Shadow = p.Law, p.Shadow
	}
	return dash.New(settings)
}

func (p Proxy) compartments() (snaps []weir.Snapshot) {
	for name, snap := range p.State().Compartments {
		snap.Name = name
		snaps = append(snaps, snap)
	}
	return snaps
}

// tables returns the addresses of each upstream, and the fleet.
func (p Proxy) tables() (tables []dash.Table) {
	state := p.State()
	for _, name := range slices.Sorted(maps.Keys(state.Upstreams)) {
		table := dash.Table{Name: "upstream " + name}
		for _, a := range state.Upstreams[name] {
			how := "in rotation"
			if !a.InRotation {
				how = "out of rotation"
			}
			table.Rows = append(table.Rows, [2]string{a.URL, fmt.Sprintf("%s, %d in flight, %d of %d failed", how, a.InFlight, a.Failures, a.Requests)})
		}
		tables = append(tables, table)
	}
	if f := state.Fleet; f != nil {
		rows := [][2]string{{"share of the cap", fmt.Sprintf("%d of %d", f.Share, f.Cap)}, {"members", fmt.Sprint(f.Members)}, {"divides the cap", f.Allocator}}
		if f.Error != "" {
			rows = append(rows, [2]string{"store", f.Error})
		}
		tables = append(tables, dash.Table{Name: "fleet " + f.Name, Rows: rows})
	}
	return tables
}
