package tracelog

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

const ms = time.Millisecond

// A fieldError stands in for that of package sim.
type fieldError struct{ text string }

func (e *fieldError) Error() string { return e.text }

func at(file string, line int, field, problem string) error {
	if line == 0 {
		return &fieldError{field + " " + problem}
	}
	return &fieldError{fmt.Sprintf("%s:%d: %s %s", file, line, field, problem)}
}

func read(r Reader, log string) ([]Request, error) { return r.Read("log", strings.NewReader(log), at) }

func TestZeroReader(t *testing.T) {
	trace, err := read(Reader{}, "0,0.01,a;b\n0.5,20ms,b\r\n\n1s,1e-3\n")
	want := []Request{{0, 10 * ms, "a;b", 0}, {500 * ms, 20 * ms, "b", 0}, {time.Second, ms, "", 0}}
	if err != nil || !reflect.DeepEqual(trace, want) {
		t.Fatalf("%v, %v", trace, err)
	}
	for _, test := range []struct{ text, want string }{
		{"", "log:1: trace is empty"},
		{"arrival,service\n", "log:1: trace is empty"},
		{"0,1,a\n\n1", "log:3: line has 1 fields: want arrival,service[,class]"},
		{"0,1,a,b", `log:1: line is "0,1,a,b": want arrival,service[,class], such as 0.5,35ms, or to be told`},
		{"x,1", `log:1: arrival is "x": want a date`},
		{"0,1\n0,NaN", `log:2: service is "NaN": want seconds`},
		{"0,0", "log:1: service is 0s: want more than 0"},
		{"0,-1", "log:1: service is -1s: want more than 0"},
		{"-1s,1", `log:1: arrival is "-1s": want`},
		{"0,1e99", `log:1: service is "1e99": want seconds`},
		{
			"1,1\n2,0\nx,1\n3,-1,c,d",
			"log:2: service is 0s: want more than 0 and up to 10000h\nlog:3: arrival is \"x\": want a date",
		},
	} {
		if _, err := read(Reader{}, test.text); err == nil ||
			!strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q: got %v, want %s", test.text, err, test.want)
		}
	}
	if _, err := read(Reader{}, "0,1\n"+strings.Repeat("1", 1<<17)); err == nil ||
		!strings.Contains(err.Error(), "log") {
		t.Error("a line without end is read:", err)
	}
}

// mapped is the trace of the logs in the tests of mappings: three requests of 10, 20 and 30
// ms within a second and a half, the last of them without a deadline of its own.
var mapped = []Request{{0, 10 * ms, "a", 200 * ms}, {500 * ms, 20 * ms, "b", 300 * ms}, {1500 * ms, 30 * ms, "a", 0}}

func TestReader(t *testing.T) {
	for name, test := range map[string]struct {
		reader Reader
		log    string
	}{
		"by name, out of order": {
			Reader{Arrival: "time", Service: "took", Class: "who", Deadline: "until"},
			"who,took,time,until\na,30ms,2026-03-01T00:00:01.5Z,-\na,0.010,2026-03-01 01:00:00+01:00,2026-03-01T00:00:00.2Z\nb,20000us,\"2026-03-01 00:00:00,5\",0.3\n",
		},
		"by number": {
			Reader{Arrival: "1", Service: "3", Class: "2", Deadline: "4"},
			"when\twho\ttook\tuntil\n1700000000\ta\t0.01\t0.2\t5\" screen\n1700000000.5\tb\t0.02\t300ms\n1700000001.5\ta\t0.03\t\n",
		},
		"with units": {
			Reader{Arrival: "stamp*us", Service: "out put*h", Class: "class", Deadline: "d*ms"},
			"stamp;class;out put;d\n1700000000000000;a;10ms;200\n1700000000500000;b;20ms;300\n1700000001500000;a;30ms;\n",
		},
		"at the end": {
			Reader{Arrival: "3", Service: "4", Class: "1", Deadline: "2", AtEnd: true},
			"a,0.2,[01/Mar/2026:00:00:00.01 +0000],0.010\nb,\"0.3\",[01/Mar/2026:01:00:00.52 +0100],0.020\na,-,[01/Mar/2026:00:00:01.53 +0000],0.030\n",
		},
		"at the end, with deadlines that are dates": {
			Reader{Arrival: "end", Service: "took", Class: "who", Deadline: "until", AtEnd: true},
			`{"end": 1700000000010000001, "took": "10ms", "who": "a", "until": 1700000000200000001}` + "\n" +
				`{"end": 1700000001530000001, "took": "30ms", "who": "a", "until": null}` + "\n" +
				`{"end": 1700000000520000001, "took": "20ms", "who": "b", "until": 1700000000800000001}` + "\n",
		},
		"access log": {
			Reader{
				Format: `common "$who" rt=${request_time} d=$d`, Arrival: "time_local",
				Service: "request_time", Class: "who", Deadline: "d",
			},
			`192.0.2.1 - bob [01/Mar/2026:00:00:00.0 +0000] "GET /\" HTTP/1.1" 200 5 "a" rt=0.010 d=0.2` + "\n" +
				`192.0.2.1 - - [01/Mar/2026:00:00:00.5 +0000] "" 400 0 "b" rt=0.020 d=0.3` + "\n" +
				`192.0.2.1 - - [01/Mar/2026:00:00:01.5 +0000] "GET / \"b\" c\\" 200 5 "a" rt=0.030 d=-` + "\n", // as Apache escapes
		},
		"access log with $msec": {
			Reader{Format: "common $msec $request_time $who $d", Service: "request_time", Class: "who", Deadline: "d"},
			`192.0.2.1 - - [01/Mar/2026:00:00:00 +0000] "" 200 5 1772323200.000 0.010 a 0.2` + "\n" +
				`192.0.2.1 - - [01/Mar/2026:00:00:00 +0000] "" 200 5 1772323200.500 0.020 b 0.3` + "\n" +
				`192.0.2.1 - - [01/Mar/2026:00:00:01 +0000] "" 200 5 1772323201.500 0.030 a -` + "\n",
		},
		"access log with another time": {
			Reader{Format: "common $at $request_time $who $d", Arrival: "at", Service: "request_time", Class: "who", Deadline: "d"},
			`192.0.2.1 - - [02/Mar/2026:00:00:00 +0000] "" 200 5 1772323200.000 0.010 a 0.2` + "\n" +
				`192.0.2.1 - - [02/Mar/2026:00:00:00 +0000] "" 200 5 1772323200.500 0.020 b 0.3` + "\n" +
				`192.0.2.1 - - [02/Mar/2026:00:00:00 +0000] "" 200 5 1772323201.500 0.030 a -` + "\n",
		},
		"JSON": {
			Reader{Arrival: "ts", Service: "response.ms*ms", Class: "who", Deadline: "until"},
			"\xef\xbb\xbf" + `{"ts":1700000000.0, "response": {"ms": 10}, "who": "a", "until": 0.2}` + "\r\n\r\n" +
				`{"ts":1700000000.5, "response": {"ms": "20"}, "who": "b", "until": "300ms"}` + "\n" +
				`{"ts":1700000001.5, "response.ms": 30, "response": {"ms": 5}, "who": "a"}` + "\n",
		},
	} {
		if trace, err := read(test.reader, test.log); err != nil ||
			!reflect.DeepEqual(trace, mapped) {
			t.Errorf("%s: %+v, %v", name, trace, err)
		}
	}
}

func TestReaderRefuses(t *testing.T) {
	columns := Reader{Arrival: "at", Service: "took"}
	for _, test := range []struct {
		reader    Reader
		log, want string
	}{
		{Reader{}, "192.0.2.1 - - [x] \"GET\" 200 0.3", `log:1: line is "192.0.2.1 - - [x] \"GET\" 200 0.3": want arrival,service[,class], such as 0.5,35ms, or to be told which columns`},
		{Reader{}, `{"at": 3}`, `log:1: line is "{\"at\": 3}": want arrival,service[,class], such as 0.5,35ms, or to be told which columns are arrival and service; the columns are at`},
		{Reader{}, `::1 - - [01/Mar/2026:00:00:00 +0000] "GET / HTTP/1.1"`, `log:1: line is "::1 - - [01/Mar/2026:00:00:00 +0000] \"GET / HTTP/1.1\"": want arrival,service[,class], such as 0.5,35ms, or to be told the format of the access log`},
		{Reader{}, "time,ms,path\n0,1,a", `log:1: line is "time,ms,path": want arrival,service[,class]`},
		{
			Reader{Format: "xml"},
			"",
			`format is "xml": want csv, json, common, combined, or the log_format of the server`,
		},
		{Reader{Format: "$a$b"}, "", "format has nothing between $a and $b: want a text there"},
		{Reader{Format: "$a ${b"}, "", `format is "$a ${b": want a name after each $, as in $status or ${status}`},
		{Reader{Format: "$ a"}, "", `format is "$ a": want a name`},
		{
			Reader{Service: "took"},
			"at,took\n",
			"log:1: arrival is missing: want a column; the columns are at, took",
		},
		{
			Reader{Format: "combined"},
			"",
			"service is missing: want a column; the columns are remote_addr,",
		},
		{
			Reader{Arrival: "ts"},
			`{"ts": 1, "b": {"c": 2}}`,
			"service is missing: want a column; the columns are b.c, ts",
		},
		{
			Reader{Arrival: "ts", Service: "d"},
			`{"ts": 1, "b": {"c": 2}}`,
			`service is "d", and there is no such column; the columns are b.c, ts`,
		},
		{columns, "\x1b[2Ja,took\n0,1", `log:1: arrival is "at", and there is no such column; the columns are \x1b[2Ja, took`},
		{columns, "a,took\n0,1", `log:1: arrival is "at", and there is no such column; the columns are a, took`},
		{columns, "a,b\n0,1", "log:1: arrival is \"at\", and there is no such column; the columns are a, b\nlog:1: service is \"took\", and there is no such column"},
		{
			Reader{Arrival: "at", Service: "0"},
			"at\n0",
			"log:1: service is \"0\", and there is no such column; the columns are at",
		},
		{
			Reader{Arrival: "at", Service: "3"},
			"at\n0",
			"log:1: service is \"3\", and there is no such column; the columns are at",
		},
		{
			Reader{Arrival: "at", Service: "1"},
			`{"at": 0}`,
			"service is \"1\", and there is no such column; the columns are at",
		},
		{Reader{Arrival: "1", Service: "3"}, "0,1", "log:1: line has 2 columns: want at least 3"},
		{columns, "at,took\n0,1\n1,2,3", "log:3: line has 3 columns: want 2: at, took"},
		{columns, "at,took\n0,1\n2026-03-01 12:00:00,2", `log:3: arrival (at) is "2026-03-01 12:00:00", and those before are times since the start: want all of them alike`},
		{columns, "at,took\n0,\n1,-", "log:2: service (took) is \"\": want seconds, or a time with a unit such as 35ms, more than 0 and up to 10000h\nlog:3: service (took) is \"-\""},
		{columns, "at,took\n0,0.000", "log:2: service (took) is 0s: want more than 0 and up to 10000h"},
		{
			columns, "at,took\n2026-02-30T00:00:00Z,1",
			`log:2: arrival (at) is "2026-02-30T00:00:00Z": want a date such as`,
		},
		{
			columns, "at,took\n1999-03-01T00:00:00Z,1\n2026-03-01T00:00:00Z,1",
			"log:3: arrival (at) is 236688h0m0s after that in line 2: want at most 10000h",
		},
		{
			columns, "at,took\n2026-03-01T00:00:00Z,1\n1999-03-01T00:00:00Z,1",
			"log:2: arrival (at) is 236688h0m0s after that in line 3: want at most 10000h",
		},
		{columns, "at,took\n0,\"1\n1,2\n", `log:2: line is no CSV: extraneous or missing " in quoted-field`},
		{columns, "\"at,took\n0,1", `log:1: heading is no CSV`},
		{Reader{Arrival: "1", Service: "2"}, "1\t1\ta\n2\t1\t\"b\n3\t1\tc\n", "log:2: line has a quote that ends on another line, or nowhere"},
		{
			Reader{Arrival: "at", Service: "1", Deadline: "d"},
			"at,d\n3,-5s",
			`log:2: deadline (d) is "-5s": want`,
		},
		{
			Reader{Arrival: "at", Service: "at", Deadline: "d"},
			"at,d\n3,1700000000",
			"log:2: deadline (d) is a date, and the arrival is not: want a time",
		},
		{
			Reader{Arrival: "at", Service: "took", Deadline: "d"},
			"at,d,took\n1700000001,1700000000,1",
			"log:2: deadline (d) is -1s: want more than 0 and up to 10000h after the arrival",
		},
		{
			Reader{Format: "[$at] $took", Arrival: "at", Service: "took"},
			"0] 1",
			`log:1: line has no "] " after $at: want the format of the log`,
		},
		{
			Reader{Format: "$at [$took]", Arrival: "at", Service: "took"},
			"0 1",
			`log:1: line has no " [" after $at: want the format of the log`,
		},
		{
			Reader{Format: `$at "$took"`, Arrival: "at", Service: "took"},
			`0 "1\"`,
			`log:1: line has no "\"" after $took: want the format of the log`,
		},
		{
			Reader{Format: "$at [$took]", Arrival: "at", Service: "took"},
			"0 [1] 2",
			`log:1: line goes on with " 2": want the whole format of the log`,
		},
		{
			Reader{Arrival: "ts", Service: "d", Deadline: "left"},
			`{"ts": 1, "d": 1, "left": {"ms": 300}}`,
			`log:1: deadline (left) is "map[ms:300": want`,
		},
		{
			Reader{Arrival: "ts", Service: "d"},
			`{"ts": 1, "d": 1}` + "\n[]",
			`log:2: line is no JSON object: json: cannot unmarshal array`,
		},
		{
			Reader{Arrival: "ts", Service: "d"},
			`{"ts": 1, "d": 1} {"ts": 2, "d": 1}`,
			`log:1: line is no JSON object: it goes on after the object: want one a line`,
		},
		{
			Reader{Arrival: "ts", Service: "d"},
			`{"ts": 1, "d": 1`,
			`log:1: line is no JSON object: unexpected EOF`,
		},
		{
			Reader{Arrival: "ts", Service: "d"}, // the first line is longer than the buffer
			`{"agent": "` + strings.Repeat("x", 1<<17) + `", "ts": 1, "d": 1}` + "\n[]",
			`log:2: line is no JSON object: json: cannot unmarshal array`,
		},
		{
			Reader{Arrival: "ts", Service: "d"},
			`{"ts": 1, "d": 1}}`,
			`log:1: line is no JSON object: it goes on after the object: want one a line`,
		},
	} {
		_, err := read(test.reader, test.log)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%+v of %q:\n got %v\nwant %s", test.reader, test.log, err, test.want)
		}
		if fault := new(fieldError); !errors.As(err, &fault) {
			t.Errorf("%v has no field", err)
		}
	}
}

// TestReaderTellsAll checks that all problems are reported at once, or their number.
func TestReaderTellsAll(t *testing.T) {
	var log strings.Builder
	for i := range 50 {
		service := i
		if i%2 == 0 {
			service = -i - 1
		}
		fmt.Fprintf(&log, "%d,%d\n", i, service)
	}
	_, err := read(Reader{}, log.String())
	told := strings.Split(err.Error(), "\n")
	if len(told) != 21 || !strings.HasPrefix(told[0], "log:1: ") || !strings.HasPrefix(told[19], "log:39: ") ||
		told[20] != "log: has 5 more problems" {
		t.Errorf("%v", err)
	}
}

// TestReaderTellsOnce checks that the same problem in many lines is reported once.
func TestReaderTellsOnce(t *testing.T) {
	const wrong = "service is 0s: want more than 0 and up to 10000h"
	for rows, want := range map[int]string{
		1: "log:2: " + wrong,
		2: "log:2: " + wrong + " (also in another line)",
		7: "log:2: " + wrong + " (also in 6 more lines)",
	} {
		_, err := read(Reader{}, "0,1\n"+strings.Repeat("1,0\n", rows))
		if err == nil || err.Error() != want || !errors.As(err, new(*fieldError)) {
			t.Errorf("%d rows: %v, want %s", rows, err, want)
		}
	}
	_, err := read(Reader{}, "0,1\n1,0\n2,-1\n3,0\n")
	if want := "log:2: service is 0s: want more than 0 and up to 10000h (also in another line)\nlog:3: service is -1s: want more than 0 and up to 10000h"; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = read(Reader{Arrival: "1", Service: "2"}, "1700000000,1\n-,1\n") // a date that is none is not far from others
	if n := strings.Count(err.Error(), "log:"); n != 1 {
		t.Errorf("%v, want one problem", err)
	}
}

// TestResolution checks that requests of a log cut to seconds or minutes do not come all at once.
func TestResolution(t *testing.T) {
	times := func(r Reader, log string) (at []time.Duration) {
		trace := must.Have(read(r, log))(t)
		for _, a := range trace {
			at = append(at, a.At)
		}
		return at
	}
	byNumber := Reader{Arrival: "1", Service: "2"}
	for _, test := range []struct {
		reader Reader
		log    string
		want   []time.Duration
	}{
		{byNumber, "1700000000,1\n1700000001,1\n1700000000,1\n", []time.Duration{0, 500 * ms, time.Second}},
		{byNumber, "1700000000,1\n1700000000,1\n1700000001.5,1\n", []time.Duration{0, 0, 1500 * ms}},
		{byNumber, "2026-03-01 12:00,1\n2026-03-01 12:00,1\n", []time.Duration{0, 30 * time.Second}},
		{byNumber, "2026-03-01 12:00:00,1\n2026-03-01 12:00:00,1\n", []time.Duration{0, 500 * ms}},
		{
			byNumber, "2026-03-01 12:00:00,1\n2026-03-01 12:00:00,1\n2026-03-01 12:02:00,1\n",
			[]time.Duration{0, 30 * time.Second, 2 * time.Minute},
		},
		{byNumber, "3,1\n3,1\n4,1\n", []time.Duration{3 * time.Second, 3 * time.Second, 4 * time.Second}},
		{Reader{AtEnd: true}, "0,0.1\n0.25,0.1\n", []time.Duration{0, 250 * ms}},
		{Reader{AtEnd: true}, "1,0.5\n1,0.75\n", []time.Duration{250 * ms, 500 * ms}},
	} {
		if got := times(test.reader, test.log); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%+v of %q: %v, want %v", test.reader, test.log, got, test.want)
		}
	}
}

func TestDates(t *testing.T) {
	const want = 1700000000
	for _, text := range []string{
		"2023-11-14T22:13:20Z", "2023-11-14t22:13:20.000z", "2023-11-14 22:13:20", "2023-11-14 22:13:20,000",
		"2023-11-14T22:13:20+00:00", "2023-11-14T23:13:20+0100",
		"2023-11-14 23:13:20+01", "2023-11-14 23:13:20.0000000 +0100", "2023-11-14 23:13:20 +01:00",
		"2023-11-14 22:13:20 UTC", "20231114T221320Z", "2023/11/14 22:13:20",
		"14/Nov/2023:22:13:20 +0000", "[14/Nov/2023:14:13:20 -0800]", "Tue, 14 Nov 2023 22:13:20 GMT",
		"Tue Nov 14 22:13:20 2023",
		"1700000000", "1700000000.000", "1.7e9", "1700000000000", "1700000000000000", "1700000000000000000",
	} {
		at, problem := new(stamps).parse(text)
		if problem != "" || !at.date || at.ns != want*int64(time.Second) {
			t.Errorf("%s: %+v, %s", text, at, problem)
		}
	}
	for _, text := range []string{
		"", "-", "soon", "1e99", "NaN", "Inf", "-1700000000", "9.3e18", "5e10",
		"1969-12-31T23:59:59Z", "2300-01-01T00:00:00Z", "2023-11-14T25:13:20Z", "10001h",
	} {
		if at, problem := new(stamps).parse(text); problem == "" {
			t.Errorf("%q is %+v", text, at)
		}
	}
}

// TestNestedObjects needs minutes if the names of the members are looked up once more.
func TestNestedObjects(t *testing.T) {
	const depth = 5000
	log := strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)
	r := Reader{Arrival: strings.Repeat("a.", depth-1) + "a", Service: "took"}
	if _, err := read(r, log); err == nil || !strings.HasPrefix(err.Error(), `service is "took", and there is no such column; the columns are a.a.a.`) {
		t.Error(err)
	}
}

func TestEndlessLines(t *testing.T) {
	for _, r := range []Reader{{}, {Arrival: "at", Service: "took"}, {Format: "json", Arrival: "at", Service: "took"}} {
		for _, start := range []string{"", `0,1,"`} {
			endless := io.MultiReader(strings.NewReader(start), zeros{})
			if _, err := r.Read("log", endless, at); err == nil || !strings.HasPrefix(err.Error(), "log: after line 0: ") {
				t.Errorf("%+v of %q and zeros: %v", r, start, err)
			}
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestLongErrors(t *testing.T) {
	long := strings.Repeat("x", 1<<17)
	for _, log := range []string{
		long, long + "," + long, "0,1\n" + long + "," + long, "at,took\n" + long + "," + long, "at,took,\"" + long + "\"\n0",
		"at,took" + strings.Repeat(",x", 1<<16) + "\n0", `{"at":"` + long + `", "took":"` + long + `"}`, `{"` + long + `":1}`, "1" + long + " 1",
	} {
		for _, r := range []Reader{{}, {Arrival: "at", Service: "took"}, {Format: "$at $took", Service: "took", Arrival: "at"}} {
			if _, err := read(r, log); err == nil || len(err.Error()) > 8000 {
				t.Errorf("%+v of %.20q: %.100v", r, log, err)
			}
		}
	}
}

// A name that is cut must not look like the name of a column.
func TestLongNamesAreCut(t *testing.T) {
	long := strings.Repeat("x", 60)
	_, err := read(Reader{Arrival: "at", Service: "1"}, long+","+long+"y\n1,2")
	if want := "columns are " + long + ", " + long + "..."; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func FuzzReader(f *testing.F) {
	f.Add("", "", "", "", "", "arrival,service\n0,1\n1.5,10ms,class\n", false)
	f.Add("csv", "at", "took", "who", "until", "at,took,who,until\n1,0.01,a,2\n2,0.02,b,-\n", true)
	f.Add("", "1", "2", "", "3", "1700000000;10ms;0.5\n1700000001;5us;\n", false)
	f.Add("", "a.b", "c*ms", "", "", `{"a":{"b":"2026-03-01T12:00:00Z"},"c":3}`, true)
	f.Add("combined $t", "", "t*ms", "status", "",
		`192.0.2.1 - - [01/Mar/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "x" 0.010`, true)
	f.Add("$t $d", "1", "2*h", "1", "", "3 [a b]\n", false)
	f.Fuzz(func(t *testing.T, format, arrival, service, class, deadline, text string, end bool) {
		readsWell(t, Reader{
			Format: format, Arrival: arrival, Service: service, Class: class, Deadline: deadline,
			AtEnd: end,
		}, text)
	})
}

// hasPlace matches an error with a location.
var hasPlace = regexp.MustCompile(`^(f:|arrival|service|class|deadline|format)`)

// readsWell checks that a trace is in order and in range, and that an error has a location.
func readsWell(t *testing.T, r Reader, text string) {
	trace, err := r.Read("f", strings.NewReader(text), at)
	if err != nil {
		if !hasPlace.MatchString(err.Error()) {
			t.Fatalf("an error without a place: %v", err)
		}
		return
	}
	last := time.Duration(0)
	for _, a := range trace {
		if a.At < last || a.Work <= 0 || a.Deadline < 0 || a.At > 2*longest+time.Second {
			t.Fatalf("%+v", a)
		}
		last = a.At
	}
	if len(trace) == 0 {
		t.Fatal("an empty trace")
	}
}
