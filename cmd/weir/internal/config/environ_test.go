package config_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

func TestEnvironmentOverrides(t *testing.T) {
	own := newPair(t)
	c := parsed(t, small+"compartments:\n  api: {max: 5}\n",
		"WEIR__UPSTREAMS__API__ADDRESSES=['http://10.0.0.2:80', 'http://10.0.0.3:80']",
		"WEIR__UPSTREAMS__API__ADDRESSES__1=http://10.0.0.4:80",
		"WEIR__UPSTREAMS__API__ADDRESSES__2=http://10.0.0.5:80",
		"WEIR__UPSTREAMS__OTHER_ONE={addresses: ['http://10.0.0.6']}",
		"weir__listeners__0__address=:9090",
		"WEIR__LISTENERS__0__TLS__MINIMUM=1.3",
		"WEIR__LISTENERS__0__TLS__CERTIFICATE="+own+".pem",
		"WEIR__LISTENERS__0__TLS__KEY="+own+".key",
		"WEIR__ROUTES__0={upstream: api}",
		"WEIR__COMPARTMENTS__API__MAX=7",
		"WEIR__COMPARTMENTS__API__QUEUE__SIZE=3",
		"WEIR__SHUTDOWN__GRACE=1m",
		"WEIR_LAW=band", "WEIR=1", "PATH=/bin", "",
	)
	if got := strings.Join(c.Upstreams["api"].Addresses, " "); got != "http://10.0.0.2:80 http://10.0.0.4:80 http://10.0.0.5:80" {
		t.Error(got)
	}
	if got := c.Upstreams["other_one"].Addresses; len(got) != 1 {
		t.Error(got)
	}
	if l := c.Listeners[0]; l.Address != ":9090" || l.TLS.Minimum != "1.3" || l.MaxConnections != 10000 {
		t.Errorf("%+v %+v", l, l.TLS)
	}
	if own := c.Compartments["api"]; own.Max != 7 || own.Queue.Size != 3 || time.Duration(c.Shutdown.Grace) != time.Minute {
		t.Errorf("%+v", own)
	}
}

// TestEnvironmentFindsNames with characters that variables cannot spell: dots, hyphens and
// capitals.
func TestEnvironmentFindsNames(t *testing.T) {
	c := parsed(t, "upstreams:\n  My.API-v2: {addresses: ['http://a']}\n", "WEIR__UPSTREAMS__MY_API_V2__HOST=b")
	if got := c.Upstreams["My.API-v2"].Host; got != "b" || len(c.Upstreams) != 1 {
		t.Errorf("host %q of %d upstreams", got, len(c.Upstreams))
	}
}

// TestEnvironmentOfManyItems adds items in the order of their numbers.
func TestEnvironmentOfManyItems(t *testing.T) {
	var environ, want []string
	for i := range 12 {
		want = append(want, "/"+string(rune('a'+i)))
		environ = append(environ, "WEIR__EXEMPT__PATHS__"+[]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"}[i]+"="+want[i])
	}
	if got := parsed(t, small, environ...).Exempt.Paths; !reflect.DeepEqual(got, want) {
		t.Error(got)
	}
}

func TestBadEnvironment(t *testing.T) {
	const file = small + "  a-b: {addresses: ['http://a']}\n  a.b: {addresses: ['http://b']}\nroutes: [{upstream: api}]\n"
	for _, test := range []struct{ variable, want string }{
		{"WEIR__LOG__COLOR=1", `WEIR__LOG__COLOR: has an unknown part "COLOR": want format, access or decisions`},
		{"WEIR__LOGS=1", `WEIR__LOGS: has an unknown part "LOGS": did you mean log?`},
		{"WEIR__=1", `WEIR__: has an unknown part "": want listeners, upstreams, routes, compartments, max, fleet, exempt, streams, buffers, shutdown, state, admin, probes, log or trace`},
		{"WEIR__LOG__FORMAT__X=1", `WEIR__LOG__FORMAT__X: goes on after log.format, which is a text: want a setting`},
		{"WEIR__LOG__FORMAT=xml", `WEIR__LOG__FORMAT: log.format is "xml": want auto, text or json`},
		{"WEIR__LOG__FORMAT=", `WEIR__LOG__FORMAT: log.format is empty: want auto, text or json; leave it out for its default`},
		{"WEIR__LOG=[", `WEIR__LOG: log is no YAML: sequence end token ']' not found: want lines of the same list or object to begin in the same column, and each bracket and quote to have an end`},
		{"WEIR__LOG=&a {}", `WEIR__LOG: log has an anchor ("&"): want plain values, lists and objects`},
		{"WEIR__LOG={acces: true}", `WEIR__LOG: log.acces is unknown: did you mean access?`},
		{"WEIR__LOG={access: true, access: true}", `WEIR__LOG: log.access is there a second time`},
		{"WEIR__ROUTES__1__PATHS=/", `WEIR__ROUTES__1__PATHS: has an unknown part "PATHS": did you mean path?`},
		{"WEIR__ROUTES__2__PATH=/", `WEIR__ROUTES__2__PATH: has the part "2" for an item of routes: want 0 to 0, or 1 for one more`},
		{"WEIR__ROUTES__X__PATH=/", `WEIR__ROUTES__X__PATH: has the part "X" for an item of routes: want 0 to 0, or 1 for one more`},
		{"WEIR__ROUTES__00__PATH=/", `WEIR__ROUTES__00__PATH: has the part "00" for an item of routes: want 0 to 0, or 1 for one more`},
		{"WEIR__LISTENERS__1__ADDRESS=:1", `WEIR__LISTENERS__1__ADDRESS: has the part "1" for an item of listeners: want 0 for the first`},
		{"WEIR__UPSTREAMS__A_B__HOST=x", `WEIR__UPSTREAMS__A_B__HOST: fits a-b and a.b of upstreams: rename all but one`},
		{"WEIR__ROUTES__0__UPSTREAM=apj", `WEIR__ROUTES__0__UPSTREAM: routes[0].upstream is "apj", which is none: did you mean api?`},
		{"WEIR__ADMIN__ADDRESS=x", `WEIR__ADMIN__ADDRESS: admin.address is "x": want host:port such as :8080, or unix:/path of a socket, or none`},
	} {
		t.Run(test.variable, func(t *testing.T) {
			_, err := config.Parse("w", []byte(file), []string{test.variable})
			refused(t, err, test.want)
		})
	}
	_, err := config.Parse("w", []byte(small+"max: x\n"), []string{"WEIR__LOG__FORMAT=y", "WEIR__EXEMPT__MAX=z"})
	refused(t, err, "w:3:6: max is \"x\": want a whole number from 0 to 1000000000\n"+
		"WEIR__EXEMPT__MAX: exempt.max is \"z\": want a whole number from 1 to 1000000000\n"+
		"WEIR__LOG__FORMAT: log.format is \"y\": want auto, text or json")
	_, err = config.Parse("w", []byte(small), []string{"WEIR__MAX=1", "weir__max=2"})
	refused(t, err, "weir__max: sets what WEIR__MAX sets: want one of them")
}
