package config_test

import (
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
	secure := "listeners: [{address: ':1', tls: {certificate: " + one + ".pem, key: " + one + ".key}}]"
	for _, test := range []struct {
		name     string
		old, new []string // of the environment
		want     string
	}{
		{name: "the same"},
		{
			name: "what may change", new: []string{
				"WEIR__LISTENERS__0__MAX_CONNECTIONS=5", "WEIR__LISTENERS__0__TRUSTED=[10.0.0.0/8]", "WEIR__MAX=5", "WEIR__COMPARTMENTS__WEB={max: 3}",
				"WEIR__UPSTREAMS__NEW={addresses: ['http://c']}", "WEIR__UPSTREAMS__API__PROTOCOL=http2", "WEIR__LOG__ACCESS=true", "WEIR__ADMIN__PPROF=true",
				"WEIR__ROUTES=[{path: /new/, upstream: new}, {upstream: api}, {path: /web/, upstream: web}]",
			},
		},
		{
			name: "what may go", old: []string{"WEIR__UPSTREAMS__OLD={addresses: ['http://c']}", "WEIR__COMPARTMENTS__WEB={breaker: {}}", "WEIR__ROUTES__2={path: /old, upstream: old}"},
		},
		{
			name: "fields", new: []string{"WEIR__LISTENERS__0__ADDRESS=:2", "WEIR__LISTENERS__0__PROTOCOLS=[http1]", "WEIR__ADMIN__ADDRESS=none", "WEIR__COMPARTMENTS__API__BREAKER__OPEN=1m"},
			want: `listeners[0].address was ":1" and is ":2": restart needed` + "\n" +
				`listeners[0].protocols was ["http1", "http2"] and is ["http1"]: restart needed` + "\n" +
				`compartments.api.breaker.open was 10s and is 1m: restart needed` + "\n" +
				`admin.address was "127.0.0.1:8081" and is "none": restart needed`,
		},
		{
			name: "a number of objects", new: []string{"WEIR__LISTENERS__1__ADDRESS=:2", "WEIR__LISTENERS__0__MAX_STREAMS=7"},
			want: `listeners was a list of one and is a list of 2: restart needed` + "\n" + `listeners[0].max_streams was 100 and is 7: restart needed`,
		},
		{name: "a cap that goes", new: []string{"WEIR__MAX=0"}, want: `max was 10 and is 0: restart needed`},
		{name: "a cap that comes", old: []string{"WEIR__MAX=0"}, want: `max was 0 and is 10: restart needed`},
		{name: "TLS that comes", new: []string{"WEIR__LISTENERS=" + secure[len("listeners: "):]}, want: `listeners[0].tls was not set and is set: restart needed`},
		{
			name: "all within an object", old: []string{"WEIR__LISTENERS=" + secure[len("listeners: "):]},
			new:  []string{"WEIR__LISTENERS=" + secure[len("listeners: "):], "WEIR__LISTENERS__0__TLS__MINIMUM=1.3"},
			want: `listeners[0].tls.minimum was "1.2" and is "1.3": restart needed`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := config.Live(parsed(t, base, test.old...), parsed(t, base, test.new...))
			if test.want != "" {
				refused(t, err, test.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}
