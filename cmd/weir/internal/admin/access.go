package admin

import (
	"fmt"
	"net"
	"net/http"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	callers "github.com/weir-go/weir/internal/access"
)

type access struct {
	token string   // file of the token; empty for none
	hosts []string // names
	near  bool     // only this machine can connect: read requests need no token
	local bool     // a Unix socket, which browsers cannot reach
}

func newAccess(settings config.Admin, address net.Addr) (*access, error) {
	a := &access{token: settings.Token, hosts: settings.Hosts}
	switch address := address.(type) {
	case *net.UnixAddr:
		a.near, a.local = true, true
	case *net.TCPAddr:
		a.near = address.IP.IsLoopback()
	}
	if a.token == "" && !a.near {
		return nil, fmt.Errorf("admin.address is %v, which other machines can reach: want a loopback address such as 127.0.0.1:8081, "+
			"unix:/path, or a file with a token in admin.token", address)
	}
	return a, nil
}

// look requires the token of requests that only read, unless only this machine can connect.
func (a *access) look(next http.Handler) http.Handler {
	if a.near {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		want, err := config.ReadToken(a.token)
		if err != nil {
			http.Error(w, "the token of admin.token cannot be read", http.StatusInternalServerError) // do not reveal the path
			return
		}
		if !callers.Bearer(r, want) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "want the token of admin.token: Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (a *access) host(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if !a.local && !callers.Host(r, a.hosts) {
			http.Error(w, fmt.Sprintf("host %q is not served here: want a loopback address, localhost, "+
				"the address of the listener, or a name of admin.hosts", r.Host), http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}
