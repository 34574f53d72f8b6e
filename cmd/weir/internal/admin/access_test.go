package admin

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/must"
)

func TestWhoMayLook(t *testing.T) {
	p := newProxied(t).Proxy
	token := tokenFile(t)
	near := serve(t, p, config.Admin{Hosts: []string{"Admin.example"}}, "tcp", "127.0.0.1:0")
	far := serve(t, p, config.Admin{Token: token}, "tcp", "0.0.0.0:0")
	socket := serve(t, p, config.Admin{}, "unix", filepath.Join(t.TempDir(), "admin"))

	for what, c := range map[string]struct {
		to     net.Addr
		host   string
		header []string
		want   int
	}{
		"loopback":                     {near, "", nil, 200},
		"its port":                     {near, "127.0.0.1:8081", nil, 200},
		"IPv6 loopback":                {near, "[::1]:8081", nil, 200},
		"IPv6 loopback, no port":       {near, "[::1]", nil, 200},
		"localhost":                    {near, "LOCALHOST:1", nil, 200},
		"a name that is allowed":       {near, "admin.example:8081", nil, 200},
		"another name":                 {near, "attacker.example", nil, 421},
		"a name like it":               {near, "localhost.attacker.example", nil, 421},
		"another address":              {near, "192.0.2.1", nil, 421},
		"a user's part":                {near, "localhost@attacker.example", nil, 421},
		"far":                          {far, "", nil, 401},
		"far, token":                   {far, "", []string{"Authorization", "Bearer " + secret}, 200},
		"far, token, lower case":       {far, "", []string{"Authorization", "bearer " + secret}, 200},
		"far, other token":             {far, "", []string{"Authorization", "Bearer " + secret + "x"}, 401},
		"far, a part of it":            {far, "", []string{"Authorization", "Bearer " + secret[:15]}, 401},
		"far, other scheme":            {far, "", []string{"Authorization", "Basic " + secret}, 401},
		"far, no scheme":               {far, "", []string{"Authorization", secret}, 401},
		"far, empty":                   {far, "", []string{"Authorization", "Bearer "}, 401},
		"far, token, another name":     {far, "attacker.example", []string{"Authorization", "Bearer " + secret}, 421},
		"socket, whatever is asked of": {socket, "weir", nil, 200},
	} {
		for _, path := range []string{"/-/weir/snapshot", "/-/weir/config", "/metrics"} {
			status, body, header := ask(t, c.to, call{path: path, host: c.host, header: c.header})
			if status != c.want || header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %s: %d %s, want %d", what, path, status, body, c.want)
			}
			if (header.Get("WWW-Authenticate") == "Bearer") != (c.want == 401) {
				t.Errorf("%s: %s: %v", what, path, header)
			}
			if c.want != 200 && !strings.Contains(body, "want ") {
				t.Errorf("%s: %s: %q does not say what to do", what, path, body)
			}
		}
	}
	if status, _, _ := ask(t, far, call{path: "/metrics", host: "127.0.0.1", header: []string{"Authorization", "Bearer " + secret}}); status != 200 {
		t.Errorf("the address of the connection: %d", status)
	}
}

func TestWhoSeesTheDashboard(t *testing.T) {
	p := newProxied(t).Proxy
	near := serve(t, p, config.Admin{}, "tcp", "127.0.0.1:0")
	far := serve(t, p, config.Admin{Token: tokenFile(t), Hosts: []string{"admin.example"}}, "tcp", "0.0.0.0:0")
	for what, c := range map[string]struct {
		to     net.Addr
		host   string
		header []string
		want   int
	}{
		"near":               {near, "", nil, 200},
		"near, another name": {near, "attacker.example", nil, 421},
		"far":                {far, "admin.example", nil, 401},
		"far, token":         {far, "admin.example", []string{"Authorization", "Bearer " + secret}, 200},
	} {
		if status, body, _ := ask(t, c.to, call{path: dashPath + "/", host: c.host, header: c.header}); status != c.want {
			t.Errorf("%s: %d %.60s, want %d", what, status, body, c.want)
		}
	}
	if got := (Proxy{State: p.State}).compartments(); len(got) != 1 || got[0].Name != "api" || got[0].Limit != 7 {
		t.Errorf("shows %v", got)
	}
}

func TestTokenIsReadAgain(t *testing.T) {
	file := tokenFile(t)
	at := serve(t, newProxied(t).Proxy, config.Admin{Token: file}, "tcp", "0.0.0.0:0")
	status := func(token string) int {
		t.Helper()
		status, _, _ := ask(t, at, call{path: "/metrics", header: []string{"Authorization", "Bearer " + token}})
		return status
	}
	if got := status(secret); got != 200 {
		t.Fatalf("first token: %d", got)
	}
	next := strings.Repeat("n", len(secret))
	must.Do(t, os.WriteFile(file, []byte(next), 0o600))
	if first, second := status(secret), status(next); first != 401 || second != 200 {
		t.Errorf("old token %d, new one %d", first, second)
	}
	must.Do(t, os.Remove(file))
	if got := status(next); got != 500 {
		t.Errorf("no file: %d, want 500", got)
	}
	if got := status(""); got != 500 {
		t.Errorf("no file, no token: %d, want 500", got)
	}
}

func TestAddressThatOthersReach(t *testing.T) {
	for _, address := range []net.Addr{&net.TCPAddr{IP: net.IPv4zero, Port: 8081}, &net.IPAddr{}} {
		if _, err := New(Proxy{}, config.Admin{}, address); err == nil || !strings.Contains(err.Error(), "admin.token") {
			t.Errorf("%v without a token: %v", address, err)
		}
	}
}

func TestProbes(t *testing.T) {
	p := newProxied(t)
	// Without token or Host check, even on the admin address.
	far := serve(t, p.Proxy, config.Admin{Token: tokenFile(t)}, "tcp", "0.0.0.0:0")
	for _, path := range []string{"/live", "/ready"} {
		if status, _, _ := ask(t, far, call{path: path, host: "10.1.2.3"}); status != 200 {
			t.Errorf("%s: %d", path, status)
		}
	}
	p.down = os.ErrClosed
	for path, want := range map[string]int{"/live": 200, "/ready": 503} {
		if status, _, _ := ask(t, far, call{path: path}); status != want {
			t.Errorf("stopping: %s: %d, want %d", path, status, want)
		}
	}
}
