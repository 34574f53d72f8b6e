package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

// TestForm tests files that are no configuration, whatever the settings.
func TestForm(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "w: upstreams is missing: want an object of names"},
		{"# nothing\n", "w: upstreams is missing: want an object of names"},
		{"- a\n", "w:1:1: is a list: want an object with listeners, upstreams, routes, compartments, max, fleet, exempt, streams, buffers, shutdown, state, admin, probes, log or trace"},
		{"\xef\xbb\xbf" + small, "w: begins with a byte order mark: save it as UTF-8 without one"},
		{"\xff\xfeu\x00", "w: is no UTF-8 on line 1: save it as UTF-8"},
		{"a: b\nc: \xff\n", "w: is no UTF-8 on line 2: save it as UTF-8"},
		{"a: \x00", "w: has a zero byte: want a text"},
		{strings.Repeat("#", 1<<20+1), "w: has 1048577 bytes: want 1048576 at most"},
		{"a: [" + strings.Repeat("b,", 20_000) + "]", "w: has 40004 names, values and signs: want 30000 at most"},
		{"a: [b", "w:1:4: is not YAML: sequence end token ']' not found: want lines of the same list or object to begin in the same column, and each bracket and quote to have an end"},
		{"a: b\n c: d\n", "w:1:4: is not YAML: mapping value is not allowed in this context: want lines of the same list or object to begin in the same column, and each bracket and quote to have an end"},
		{"a:\n\tb: 1\n", "w:2:1: is not YAML: a line begins with a tab: want spaces"},
		{"a: b\n---\nc: d\n", "w:1:1: a is unknown: want listeners, upstreams, routes, compartments, max, fleet, exempt, streams, buffers, shutdown, state, admin, probes, log or trace\n" +
			"w:3:1: has more after its end: want one document"},
		{"a: &x 1\nb: *x\nc: !!str 1\nd:\n  <<: {}\n? e\n: 1\n", "w:1:4: has an anchor (\"&\"): want plain values, lists and objects\n" +
			"w:2:4: has an alias (\"*\"): want plain values, lists and objects\n" +
			"w:3:4: has a tag (\"!!str\"): want plain values, lists and objects\n" +
			"w:5:3: has a merge key (\"<<\"): want plain values, lists and objects\n" +
			"w:6:1: has a complex key (\"?\"): want plain values, lists and objects"},
		{"%YAML 1.2\n---\na: b\n", "w:1:1: has a directive (\"%\"): want plain values, lists and objects"},
		{"a: " + strings.Repeat("[", 21), "w:1:24: is nested too deeply: want 20 levels at most"},
		{"a: " + strings.Repeat("{a: ", 21), "w:1:84: is nested too deeply: want 20 levels at most"},
		{"a:\n" + strings.Repeat("- ", 21), "w:2:41: is nested too deeply: want 20 levels at most"},
		{small + "routes:\n" + strings.Repeat("- ", 20) + "a", "w:4:3: routes[0] is a list: want an object with host, path, method, grpc, upstream, compartment, exempt, priority, tenant, timeout, client_leaves, pushback, max_body, body or streams"},
	} {
		t.Run(fmt.Sprintf("%.20q", test.text), func(t *testing.T) {
			_, err := config.Parse("w", []byte(test.text))
			refused(t, err, test.want)
		})
	}
}

// TestFields tests malformed fields and values, which are all reported at once, by line.
func TestFields(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"upstream: {}\n" + small, "w:1:1: upstream is unknown: did you mean upstreams?"},
		{"log: {colour: red}\n" + small, "w:1:7: log.colour is unknown: want format, access or decisions"},
		{small + "max: 1\nmax: 2\n", "w:4:1: max is there a second time (the first is on line 3)"},
		{small + "log:\n", "w:3:6: log is empty: want an object with format, access or decisions; leave it out for its default"},
		{small + "log: [x]\n", "w:3:6: log is a list: want an object with format, access or decisions"},
		{small + "log: {format: xml, access: 1, decisions: yes}\n", "w:3:15: log.format is \"xml\": want auto, text or json\n" +
			"w:3:28: log.access is 1: want true or false\n" +
			"w:3:42: log.decisions is \"yes\": want true or false"},
		{small + "max: many\nexempt: {max: 0}\nstreams: {max: 1.5, events: 1e3, websockets: \"9\"}\n", "w:3:6: max is \"many\": want a whole number from 0 to 1000000000\n" +
			"w:4:15: exempt.max is 0: want a whole number from 1 to 1000000000\n" +
			"w:5:16: streams.max is 1.5: want a whole number from 1 to 1000000000\n" +
			"w:5:29: streams.events is \"1e3\": want a whole number from 1 to 1000000000\n" +
			"w:5:46: streams.websockets is \"9\": want a whole number from 1 to 1000000000"},
		{small + "max: 99999999999999999999\n", "w:3:6: max is \"99999999999999999999\": want a whole number from 0 to 1000000000"},
		{small + "shutdown: {wait: 5, grace: -1s}\n", "w:3:18: shutdown.wait is 5: want a time such as 500ms, from 0 to 8760h\n" +
			"w:3:28: shutdown.grace is -1s: want a time such as 500ms, from 0 to 8760h"},
		{small + "buffers: {request: 64KB, response: -1, memory: 1PiB, file: 9999999999GiB}\n", "w:3:20: buffers.request is \"64KB\": want a size such as 64KiB, from 0 to 1024GiB\n" +
			"w:3:36: buffers.response is -1: want a size such as 64KiB, from 0 to 1024GiB\n" +
			"w:3:48: buffers.memory is \"1PiB\": want a size such as 64KiB, from 0 to 1024GiB\n" +
			"w:3:60: buffers.file is \"9999999999GiB\": want a size such as 64KiB, from 0 to 1024GiB"},
		{small + "trace: {sample: .nan}\n", "w:3:17: trace.sample is .nan: want a number from 0 to 1"},
		{small + "trace: {sample: 1.5, service: ''}\n", "w:3:17: trace.sample is 1.5: want a number from 0 to 1\nw:3:31: trace.service is missing: want a text"},
		{small + "admin: {hosts: a}\n", "w:3:16: admin.hosts is \"a\": want a list"},
		{small + "admin: {hosts: ['']}\n", "w:3:17: admin.hosts[0] is \"\": want a host such as api.internal, or one with a port"},
		{small + "admin: {hosts: [1, [], a:b:1]}\n", "w:3:17: admin.hosts[0] is 1: want a host such as api.internal, or one with a port, in quotes\n" +
			"w:3:20: admin.hosts[1] is a list: want a host such as api.internal, or one with a port\n" +
			"w:3:24: admin.hosts[2] is an object: want a host such as api.internal, or one with a port, in quotes if it has a colon"},
		{"upstreams: [a]\n", "w:1:12: upstreams is a list: want an object of names"},
		{"upstreams: {}\n", "w:1:12: upstreams is missing: want an object of names"},
		{"upstreams: {-a: {addresses: []}}\n", "w:1:17: upstreams.-a has a wrong name: want a name of 1 to 100 letters, digits, dots, - and _, the first a letter or a digit"},
	} {
		t.Run(strings.ReplaceAll(test.text, small, ""), func(t *testing.T) {
			_, err := config.Parse("w", []byte(test.text))
			refused(t, err, test.want)
		})
	}
}
