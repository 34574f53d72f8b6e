package config

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/weir-go/weir/trust"
)

// A form is the syntax of a text.
type form struct {
	is   func(text string) bool
	want string
}

// forms are the forms of the tag form, by name.
var forms = map[string]form{
	"address":    {isAddress, wantAddress},
	"fleet":      {matches(`^[A-Za-z0-9_-]{1,63}$`), "1 to 63 letters, digits, - and _"},
	"network":    {isNetwork, "a network such as 10.0.0.0/8, or an address"},
	"host":       {isHost, "a host such as api.internal, or one with a port"},
	"route host": {matches(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?$`), "a host in lower case and without a port, such as api.example.com"},
	"method":     {matches(`^[A-Z][A-Z-]*$`), "a method such as GET"},
	"grpc":       {matches(`^([A-Za-z_][A-Za-z0-9_]*\.)*[A-Za-z_][A-Za-z0-9_]*/(\*|[A-Za-z_][A-Za-z0-9_]*)$`), "package.Service/Method or package.Service/*"},
	"tenant":     {matches("^(address|certificate|header:[!#$%&'*+.^_`|~0-9A-Za-z-]+)$"), "address, certificate or header:NAME"},
	"server":     {isServer, "a URL such as http://10.0.0.1:9000, without user, query and fragment"},
	"question":   {isQuestion, "a path such as /healthz"},
	"collector":  {isURL, "a URL such as http://127.0.0.1:4318/v1/traces"},
	"directory":  {isDirectory, "a directory that exists"},
	"file":       {isFile, "a file in a directory that exists"},
}

func matches(pattern string) func(string) bool { return regexp.MustCompile(pattern).MatchString }

const wantAddress = "host:port such as :8080, or unix:/path of a socket"

func isAddress(address string) bool { return isSocket(address) || isPort(address) }

func isSocket(address string) bool {
	path, is := strings.CutPrefix(address, "unix:")
	return is && path != ""
}

func isPort(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil || strings.ContainsAny(host, " /") {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == port
}

func isNetwork(text string) bool {
	_, err := trust.Networks(text)
	return err == nil
}

func isServer(address string) bool {
	_, is := parseServer(address)
	return is
}

// serverOf returns a server's address in one spelling, so that its other spellings are equal to it.
func serverOf(address string) string {
	u, is := parseServer(address)
	if !is {
		return address
	}
	return u.Scheme + "://" + u.Host + strings.TrimSuffix(u.EscapedPath(), "/")
}

func parseServer(address string) (u *url.URL, is bool) {
	u, plain := parsePlain(address)
	return u, plain && (isWeb(u) || u.Scheme == "unix" && u.Host == "" && len(u.Path) > 1)
}

func isURL(text string) bool {
	u, plain := parsePlain(text)
	return plain && isWeb(u)
}

func isWeb(u *url.URL) bool { return (u.Scheme == "http" || u.Scheme == "https") && isHost(u.Host) }

// parsePlain reads a URL, and reports whether it is valid and has no user, query and fragment.
func parsePlain(text string) (u *url.URL, plain bool) {
	u, err := url.Parse(text)
	return u, err == nil && u.User == nil && u.RawQuery == "" && !u.ForceQuery && !strings.Contains(text, "#")
}

// isHost reports whether a text is the host of a URL, with or without a port.
func isHost(text string) bool {
	u, err := url.Parse("http://" + text)
	if err != nil || u.Host != text || u.Hostname() == "" || strings.ContainsAny(text, "{}*\"<>") {
		return false
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	return u.Port() == "" || err == nil && n > 0
}

// isQuestion reports whether a text is a path, with or without a query.
func isQuestion(text string) bool {
	path, _, _ := strings.Cut(text, "?")
	_, err := url.ParseRequestURI(path)
	return err == nil && strings.HasPrefix(path, "/") && !strings.ContainsAny(path, "# ")
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isFile(path string) bool { return !isDirectory(path) && isDirectory(filepath.Dir(path)) }
