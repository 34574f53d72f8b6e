package config_test

import (
	"strings"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

const base = `
listeners: [{address: ':1'}]
upstreams: {api: {addresses: ['http://a']}, web: {addresses: ['http://b']}}
routes: [{upstream: api}, {path: /web/, upstream: web}]
compartments: {api: {breaker: {failures: 3}}}
max: 10
`

func TestLive(t *testing.T) {
	one := newPair(t)
	secure := "':1', tls: {certificate: " + one + ".pem, key: " + one + ".key"
	for _, test := range []struct {
		name     string
		old, new []string // texts of base and their replacements
		want     string
	}{
		{name: "the same"},
		{
			name: "what may change", new: []string{
				"':1'", "':1', max_connections: 5, trusted: [10.0.0.0/8]", "web: {addresses", "new: {addresses: ['http://c']}, web: {addresses",
				"['http://a']", "['http://a'], protocol: http2", "[{upstream: api}", "[{path: /new/, upstream: new}, {upstream: api}",
				"3}}}", "3}}, web: {max: 3}}", "max: 10", "max: 5\nlog: {access: true}\nadmin: {pprof: true}",
			},
		},
		{
			name: "what may go",
			old: []string{
				"web: {addresses", "old: {addresses: ['http://c']}, web: {addresses", "upstream: web}]", "upstream: web}, {path: /old, upstream: old}]",
				"3}}}", "3}}, web: {breaker: {}}}",
			},
		},
		{
			name: "fields", new: []string{"':1'", "':2', protocols: [http1]", "3}}}", "3, open: 1m}}}", "max: 10", "max: 10\nadmin: {address: none}"},
			want: `listeners[0].address was ":1" and is ":2": restart needed` + "\n" +
				`listeners[0].protocols was ["http1", "http2"] and is ["http1"]: restart needed` + "\n" +
				`compartments.api.breaker.open was 10s and is 1m: restart needed` + "\n" +
				`admin.address was "127.0.0.1:8081" and is "none": restart needed`,
		},
		{
			name: "objects by name",
			old:  []string{"3}}}", "3}}, web: {breaker: {open: 2s}}}"}, new: []string{"3}}}", "4}}, web: {breaker: {open: 3s}}}"},
			want: `compartments.api.breaker.failures was 3 and is 4: restart needed` + "\n" +
				`compartments.web.breaker.open was 2s and is 3s: restart needed`,
		},
		{
			name: "a number of objects", new: []string{"':1'}", "':1', max_streams: 7}, {address: ':2'}"},
			want: `listeners was a list of 1 and is a list of 2: restart needed` + "\n" + `listeners[0].max_streams was 100 and is 7: restart needed`,
		},
		{name: "a cap that goes", new: []string{"max: 10", "max: 0"}, want: `max was 10 and is 0: restart needed`},
		{name: "a cap that comes", old: []string{"max: 10", "max: 0"}, want: `max was 0 and is 10: restart needed`},
		{name: "TLS that comes", new: []string{"':1'", secure + "}"}, want: `listeners[0].tls was not set and is set: restart needed`},
		{
			name: "all within an object", old: []string{"':1'", secure + "}"}, new: []string{"':1'", secure + ", minimum: 1.3}"},
			want: `listeners[0].tls.minimum was "1.2" and is "1.3": restart needed`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := config.Live(parsed(t, strings.NewReplacer(test.old...).Replace(base)), parsed(t, strings.NewReplacer(test.new...).Replace(base)))
			if test.want != "" {
				refused(t, err, test.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}
