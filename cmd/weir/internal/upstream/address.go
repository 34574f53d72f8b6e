package upstream

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// An address is one server of a pool.
type address struct {
	text   string // as it is configured
	scheme string // http or https
	host   string // with the port, if one is given
	socket string // path of a Unix socket
	base   string // path before that of a request, without a slash at its end
	raw    string // base as it is escaped
	*record
	*connections
}

// parseAddress reads http://host:port/path, https://host:port/path, or unix:/path of a socket.
func parseAddress(text string) (*address, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	a := &address{text: text, scheme: u.Scheme, host: u.Host}
	switch {
	case u.User != nil, u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return nil, fmt.Errorf("address %q: want no user, query or fragment", u.Redacted())
	case u.Scheme == "unix" && u.Host == "" && len(u.Path) > 1:
		a.scheme, a.host, a.socket = "http", "localhost", u.Path
	case (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "":
		a.base, a.raw = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.EscapedPath(), "/")
	default:
		return nil, fmt.Errorf("address %q: want http://host:port, https://host:port or unix:/path", text)
	}
	return a, nil
}

// locate returns where a request for the URL goes.
func (a *address) locate(u *url.URL) *url.URL {
	to := *u
	to.Scheme, to.Host, to.User = a.scheme, a.host, nil
	if a.base == "" {
		return &to
	}
	escaped := u.EscapedPath()
	to.Path, to.RawPath = join(a.base, u.Path), join(a.raw, escaped)
	if to.RawPath == to.Path { // as net/url has it
		to.RawPath = ""
	}
	return &to
}

func join(base, path string) string {
	if path == "" || path[0] == '/' {
		return base + path
	}
	return base + "/" + path
}

// outgoing returns the request as it is sent to the address.
func (a *address) outgoing(ctx context.Context, req *http.Request, host string) *http.Request {
	out := req.WithContext(ctx)
	out.URL = a.locate(req.URL)
	if host != "" {
		out.Host = host
	}
	return out
}
