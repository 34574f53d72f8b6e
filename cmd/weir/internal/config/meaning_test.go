package config_test

import (
	"strings"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/law"
)

// TestMeaning tests well-formed settings that are wrong or contradict each other.
func TestMeaning(t *testing.T) {
	_, unknown := law.Parse("bond") // the list of laws is its own
	const two = "upstreams:\n  api: {addresses: ['http://a']}\n  web: {addresses: ['http://b']}\n"
	for _, test := range []struct{ text, want string }{
		// Listeners
		{small + "listeners: [{address: '8080'}, {address: 'unix:'}, {address: ':99999'}, {address: 'a b:1'}, {address: ':080'}]\n", "w:3:23: listeners[0].address is \"8080\": want host:port such as :8080, or unix:/path of a socket\n" +
			"w:3:42: listeners[1].address is \"unix:\": want host:port such as :8080, or unix:/path of a socket\n" +
			"w:3:62: listeners[2].address is \":99999\": want host:port such as :8080, or unix:/path of a socket\n" +
			"w:3:83: listeners[3].address is \"a b:1\": want host:port such as :8080, or unix:/path of a socket\n" +
			"w:3:103: listeners[4].address is \":080\": want host:port such as :8080, or unix:/path of a socket"},
		{small + "listeners: [{}, {}]\n", "w:3:17: listeners[1].address is \":8080\", as listeners[0].address is (the first is on line 3): want another"},
		{small + "listeners: [{address: '127.0.0.1:8081'}]\n", "w:1:1: admin.address is \"127.0.0.1:8081\", as listeners[0].address is (the first is on line 3): want another"},
		{small + "listeners:\n  - protocols: []\n", "w:4:16: listeners[0].protocols is empty: want http1, http2 or both"},
		{small + "listeners:\n  - protocols: [http3]\n", "w:4:17: listeners[0].protocols[0] is \"http3\": want http1 or http2"},
		{small + "listeners:\n  - {proxy_protocol: [x], trusted: [10.0.0.0/33]}\n", "w:4:23: listeners[0].proxy_protocol[0] is \"x\": want a network such as 10.0.0.0/8, or an address\n" +
			"w:4:37: listeners[0].trusted[0] is \"10.0.0.0/33\": want a network such as 10.0.0.0/8, or an address"},
		{small + "listeners:\n  - {address: 'unix:/s', proxy_protocol: [10.0.0.1]}\n", "w:4:42: listeners[0].proxy_protocol is set for a socket, of which no peer has a network: want an address with a port, or no proxy_protocol"},
		{small + "listeners:\n  - {max_header: 10, max_connections: 0}\n", "w:4:18: listeners[0].max_header is 10: want a size such as 64KiB, from 1KiB to 16MiB\n" +
			"w:4:39: listeners[0].max_connections is 0: want a whole number from 1 to 1000000000"},

		// Upstreams
		{"upstreams:\n  api: {}\n", "w:2:8: upstreams.api.addresses is missing: want a list"},
		{"upstreams:\n  api: {addresses: ['ftp://a', 'http://', 'http://a:0', 'http://u@a', 'http://a?q', 'http://a#f', 'http://a?', 'a:80', 'http://{a}', 'unix:', 'unix:app', 'unix:/', 'unix:/a?b', 'http://a', 'http://a/']}\n", wantURLs(21, "ftp://a", "http://", "http://a:0", "http://u@a", "http://a?q", "http://a#f", "http://a?", "a:80", "http://{a}", "unix:", "unix:app", "unix:/", "unix:/a?b") +
			"w:2:190: upstreams.api.addresses[14] is \"http://a/\", as one before it is"},
		{"upstreams:\n  api: {addresses: ['http://a', 'HTTP://a', 'unix:/s', 'unix:///s']}\n", "w:2:33: upstreams.api.addresses[1] is \"HTTP://a\", as one before it is\n" +
			"w:2:56: upstreams.api.addresses[3] is \"unix:///s\", as one before it is"},
		{"upstreams:\n  api: {addresses: ['http://user:s@cret@a']}\n", "w:2:21: upstreams.api.addresses[0] is \"http://xxxxx@a\": want a URL such as http://10.0.0.1:9000, without user, query and fragment"},
		{"upstreams:\n  api: {addresses: [\"http://user:s/c:r@e\\nt@a\"]}\n", "w:2:21: upstreams.api.addresses[0] is \"http://xxxxx@a\": want a URL such as http://10.0.0.1:9000, without user, query and fragment"},
		{"upstreams:\n  api: {addresses: ['http://a'], tls: {ca: x}}\n", "w:2:39: upstreams.api.tls is set, and no address has https: want one, or no tls"},
		{"upstreams:\n  api: {addresses: ['https://a'], tls: {certificate: x}}\n", "w:2:40: upstreams.api.tls.key is missing: want the file of the key that belongs to certificate"},
		{"upstreams:\n  api: {addresses: ['https://a'], tls: {key: x}}\n", "w:2:40: upstreams.api.tls.certificate is missing: want the file of the certificate that belongs to key"},
		{"upstreams:\n  api: {addresses: ['http://a'], host: 'a/b', protocol: http3, health: {path: healthz, interval: 0s}}\n", "w:2:40: upstreams.api.host is \"a/b\": want a host such as api.internal, or one with a port\n" +
			"w:2:57: upstreams.api.protocol is \"http3\": want http1 or http2\n" +
			"w:2:79: upstreams.api.health.path is \"healthz\": want a path such as /healthz\n" +
			"w:2:98: upstreams.api.health.interval is 0s: want a time such as 500ms, from 1ms to 8760h"},

		{"upstreams:\n  api: {addresses: ['http://a'], health: {path: '?x'}}\n", "w:2:49: upstreams.api.health.path is \"?x\": want a path such as /healthz"},
		{"upstreams:\n  api: {addresses: ['http://a'], health: {path: '/a#b'}}\n", "w:2:49: upstreams.api.health.path is \"/a#b\": want a path such as /healthz"},

		// Routes
		{two, "w:1:1: routes[0].upstream is missing, and there are several: want api or web"},
		{two + "routes:\n  - {upstream: wep}\n", "w:5:16: routes[0].upstream is \"wep\", which does not exist: did you mean web?"},
		{two + "routes:\n  - {upstream: storage}\n", "w:5:16: routes[0].upstream is \"storage\", which does not exist: want api or web"},
		{two + "routes:\n  - {upstream: api, compartment: wep}\n", "w:5:34: routes[0].compartment is \"wep\", which does not exist: did you mean web?"},
		{small + "routes:\n  - {path: a, method: get, host: 'A:80', priority: urgent, client_leaves: stay}\n", "w:4:12: routes[0].path is \"a\": want a pattern such as /search/{term} or /static/\n" +
			"w:4:23: routes[0].method is \"get\": want a method such as GET\n" +
			"w:4:34: routes[0].host is \"A:80\": want a host in lower case and without a port, such as api.example.com\n" +
			"w:4:52: routes[0].priority is \"urgent\": want critical, high, normal or low\n" +
			"w:4:75: routes[0].client_leaves is \"stay\": want finish or cancel"},
		{small + "routes:\n  - {path: '/{a'}\n  - {path: '/{a}/{a}'}\n", "w:4:12: routes[0].path is \"/{a\": want a pattern such as /search/{term} or /static/: parsing \"/{a\": at offset 1: bad wildcard segment (must end with '}')\n" +
			"w:5:12: routes[1].path is \"/{a}/{a}\": want a pattern such as /search/{term} or /static/: parsing \"/{a}/{a}\": at offset 5: duplicate wildcard name \"a\""},
		{small + "routes:\n  - path: /a/{x}\n  - path: /{y}/b\n  - path: /a/{z}\n  - {path: '/a/{z}', method: GET}\n", "w:5:5: routes[1] is for \"/{y}/b\", and routes[0] is for \"/a/{x}\": some requests match both, and neither is more specific (the first is on line 4)\n" +
			"w:6:5: routes[2] is for \"/a/{z}\", and routes[0] is for \"/a/{x}\": some requests match both, and neither is more specific (the first is on line 4)"},
		{small + "routes:\n  - {grpc: a.B/C, path: /a}\n  - {grpc: a.B}\n  - {grpc: 'a.B/*'}\n  - {grpc: 'a.B/*'}\n", "w:4:12: routes[0].grpc is set beside path or method: want one or the other\n" +
			"w:5:12: routes[1].grpc is \"a.B\": want package.Service/Method or package.Service/*\n" +
			"w:7:5: routes[3] is for \"POST /a.B/\", and routes[2] is for \"POST /a.B/\": some requests match both, and neither is more specific (the first is on line 6)"},
		{small + "routes:\n  - {exempt: true, compartment: api}\n", "w:4:33: routes[0].compartment is \"api\" beside exempt: want one of them"},
		{small + "routes:\n  - {tenant: me}\n  - {path: /a, tenant: address}\n", "w:4:14: routes[0].tenant is \"me\": want address, certificate or header:NAME\n" +
			"w:5:24: routes[1].tenant is \"address\": want none without queue.tenants in its compartment"},
		{small + "compartments: {api: {queue: {size: 1, tenants: 8}}}\nroutes:\n  - {tenant: certificate}\n  - {path: /a, tenant: 'header:X'}\n", "w:5:14: routes[0].tenant is \"certificate\": want none without tls.client_ca in a listener\n" +
			"w:6:24: routes[1].tenant is \"header:X\": want none without trusted in a listener"},

		// A fleet
		{small + "fleet: {}\n", "w:3:8: fleet.name is missing: want 1 to 63 letters, digits, - and _\nw:3:8: fleet.store is missing: want a text\nw:3:8: fleet.cap is missing: want a whole number from 1 to 1000000000"},
		{small + "max: 5\nfleet: {name: a.b, store: 'redis://a', cap: 20, ttl: 3s, fallback: stay, replicas: 7}\n", "w:3:6: max is 5: want none beside fleet, whose cap is 20\n" +
			"w:4:15: fleet.name is \"a.b\": want 1 to 63 letters, digits, - and _\n" +
			"w:4:27: fleet.store is \"redis://a\": want nats://host:4222 or postgres://user@host/database\n" +
			"w:4:54: fleet.ttl is 3s: want at least 5 refreshes, which are 5s\n" +
			"w:4:68: fleet.fallback is \"stay\": want keep, refuse or local\n" +
			"w:4:84: fleet.replicas is 7: want a whole number from 1 to 5"},
		{small + "fleet: {name: a, store: 'nats://me:secret@a:4222', cap: 20}\n", "w:3:25: fleet.store has a password: want it in a file that fleet.credentials names"},
		{small + "fleet: {name: a, store: 'nats://me:sec/ret@a:4222', cap: 20}\n", "w:3:25: fleet.store is \"nats://xxxxx@a:4222\": want nats://host:4222 or postgres://user@host/database"},
		{small + "routes: [{timeout: 1s}]\nfleet: {name: a, store: 'postgres://me:sec/ret@a/b', cap: 20}\n", "w:4:25: fleet.store is \"postgres://xxxxx@a/b\": want nats://host:4222 or postgres://user@host/database"},
		{small + "fleet: {name: a, store: 'postgres://a/b?password=x', cap: 20, tls: {ca: x}}\n", "w:3:25: fleet.store has a password: want it in a file that fleet.credentials names\n" +
			"w:3:68: fleet.tls is set for PostgreSQL: want sslmode, sslrootcert, sslcert and sslkey in fleet.store"},
		{small + "routes: [{timeout: 0s}]\nfleet: {name: a, store: 'nats://a:4222,nats://b:4222', cap: 20, credentials: gone}\n", "w:4:8: fleet.grace is missing, and a route has no timeout: want the time of the longest request\n" +
			"w:4:78: fleet.credentials is \"gone\": no such file or directory: want a file"},
		{small + "routes: [{timeout: 2h}]\nfleet: {name: a, store: 'nats://a:4222', cap: 20}\n", "w:4:8: fleet.grace is 2h: want at most 1h: the default is the longest timeout of a route"},

		// Compartments
		{small + "routes: [{compartment: slo}]\ncompartments: {slow: {}}\n", "w:3:24: routes[0].compartment is \"slo\", which does not exist: did you mean slow?"},
		{small + "compartments:\n  apj: {}\n", "w:4:8: compartments.apj has no route: did you mean api?"},
		{small + "compartments:\n  api: {law: bond}\n", "w:4:14: compartments.api.law is \"bond\": " + strings.TrimPrefix(unknown.Error(), "law: ")},
		{small + "compartments:\n  api: {law: 3}\n", "w:4:14: compartments.api.law is 3: want a control law such as setpoint or band(target=100ms)"},
		{small + "compartments:\n  api: {min: 5, max: 3}\n", "w:4:14: compartments.api.min is 5: want at most max, which is 3"},
		{small + "compartments:\n  api: {max: 3, initial: 4}\n", "w:4:26: compartments.api.initial is 4: want from min to max, which are 1 and 3"},
		{small + "compartments:\n  api: {window: 5ms}\n", "w:4:17: compartments.api.window is 5ms: want at least interval, which is 1s"},
		{small + "compartments:\n  api: {min: 0, interval: 0s, share: 0}\n", "w:4:14: compartments.api.min is 0: want a whole number from 1 to 1000000000\n" +
			"w:4:27: compartments.api.interval is \"0s\": want a time such as 500ms, from 1ms to 8760h\n" +
			"w:4:38: compartments.api.share is 0: want a number from 0.001 to 1000"},
		{small + "compartments:\n  api: {queue: {size: 0, timeout: 1s, tenants: 3, order: lifo}}\n", "w:4:35: compartments.api.queue.timeout is 1s: want none without a queue: set size\n" +
			"w:4:48: compartments.api.queue.tenants is 3: want none without a queue: set size\n" +
			"w:4:58: compartments.api.queue.order is \"lifo\": want fifo or adaptive"},
		{two + "routes: [{upstream: api}, {path: /a, upstream: web}]\ncompartments:\n  api: {reserved: 3}\n  web: {}\n", "w:6:19: compartments.api.reserved is 3: want 0 without a cap: set max"},
		{small + "max: 9\ncompartments:\n  api: {reserved: 3, max: 2}\n", "w:5:19: compartments.api.reserved is 3: want at most max of the compartment, which is 2"},
		{two + "max: 9\nroutes: [{upstream: api}, {path: /a, upstream: web}]\ncompartments:\n  api: {reserved: 5}\n  web: {reserved: 5}\n", "w:8:19: compartments.web.reserved is 5: want at most what is left of max: all reserve 10 of 9"},
		{small + "compartments:\n  api: {law: fixed(5), breaker: {failures: 0}}\n", "w:4:44: compartments.api.breaker.failures is 0: want a whole number from 1 to 1000000000"},

		// The rest
		{small + "buffers: {memory: 1KiB}\n", "w:3:10: buffers.request is 64KiB: want at most buffers.memory, which is 1KiB\n" +
			"w:3:10: buffers.response is 64KiB: want at most buffers.memory, which is 1KiB"},
		{small + "admin: {address: ''}\n", "w:3:18: admin.address is \"\": want host:port such as :8080, or unix:/path of a socket, or none"},
		{small + "admin: {address: ':8081'}\n", "w:3:18: admin.address is \":8081\": want a loopback address, a socket, or a token in admin.token"},
		{small + "admin: {address: x, hosts: ['a b', a.example]}\n", "w:3:18: admin.address is \"x\": want host:port such as :8080, or unix:/path of a socket, or none\n" +
			"w:3:29: admin.hosts[0] is \"a b\": want a host such as api.internal, or one with a port"},
		{small + "probes: {metrics: true}\n", "w:3:19: probes.metrics is true without a listener of the probes: want probes.address"},
		{small + "probes: {address: x}\n", "w:3:19: probes.address is \"x\": want host:port such as :8080, or unix:/path of a socket"},
		{small + "trace: {endpoint: 'x:1'}\n", "w:3:19: trace.endpoint is \"x:1\": want a URL such as http://127.0.0.1:4318/v1/traces"},
	} {
		t.Run(strings.ReplaceAll(test.text, small, ""), func(t *testing.T) {
			_, err := config.Parse("w", []byte(test.text))
			refused(t, err, test.want)
		})
	}
}

// TestAccepted tests settings that look wrong and are valid.
func TestAccepted(t *testing.T) {
	for _, text := range []string{
		small + "listeners: [{address: ':0'}, {address: ':0'}]\n", // ports chosen by the system
		small + "compartments: {api: {queue: {size: 0}}}\n",
		small + "max: 9\ncompartments: {api: {reserved: 3, max: 3}}\n",
		small + "routes: [{timeout: 1s}]\nfleet: {name: a, store: 'nats://[::1]:4222,nats://a@[::2]:4222', cap: 20}\n",
		small + "routes: [{}, {path: /live, exempt: true, timeout: 0s}]\nfleet: {name: a, store: 'nats://a:4222', cap: 20}\n",
		"upstreams: {api: {addresses: ['https://a', 'http://b', 'http://b/below', 'unix:/app'], tls: {server_name: c}}}\n",
		small + "admin: {address: 'localhost:1'}\n",
		small + "admin: {address: '[::1]:1'}\n",
		small + "admin: {address: 'unix:/run/weir-admin.sock'}\n",
		small + "  web: {addresses: ['http://b:80/base']}\nroutes: [{upstream: api, compartment: web}]\n",
		small + "routes: [{path: /a/}, {path: '/a/{b}'}, {path: '/a/{b}', method: GET}, {path: '/a/{b}', host: c.example}]\n",
	} {
		if _, err := config.Parse("w", []byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
