package admin

import (
	"net/http"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/dash"
)

const dashPath = "/-/weir/dash"

// dashboard returns the page of the compartments, with the access of the requests that only read.
// A browser cannot send the token in a header, so the page asks for it.
func (p Proxy) dashboard(a *access) (http.Handler, error) {
	settings := dash.Config{Read: p.compartments, Public: a.near, Hosts: a.hosts}
	if !a.near {
		settings.Token = func() (string, error) { return config.ReadToken(a.token) }
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
