package sim

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestTrace(t *testing.T) {
	trace, err := ParseTrace("t.csv", strings.NewReader("arrival,service,class\n0,0.01,a\n0.5,20ms,b\r\n\n1s,1e-3\n"))
	want := Trace{{0, 10 * ms, "a", 0}, {500 * ms, 20 * ms, "b", 0}, {time.Second, ms, "", 0}}
	if err != nil || !reflect.DeepEqual(trace, want) || trace.Length() != 2*time.Second {
		t.Fatalf("%v, %v", trace, err)
	}
	for _, test := range []struct{ text, want string }{
		{"", "t.csv:1: trace is empty"},
		{"arrival,service\n", "t.csv:1: trace is empty"},
		{"0,1,a\n\n1", "t.csv:3: line has 1 fields: want arrival,service[,class]"},
		{"0,1,a,b", `t.csv:1: line is "0,1,a,b": want arrival,service[,class], such as 0.5,35ms, or to be told`},
		{"x,1", `t.csv:1: arrival is "x": want a date`},
		{"0,1\n0,NaN", `t.csv:2: service is "NaN": want seconds`},
		{"0,0", "t.csv:1: service is 0s: want more than 0"},
		{"0,-1", "t.csv:1: service is -1s: want more than 0"},
		{"-1s,1", `t.csv:1: arrival is "-1s": want`},
		{"0,1e99", `t.csv:1: service is "1e99": want seconds`},
		{
			"1,1\n2,0\nx,1\n3,-1,c,d",
			"t.csv:2: service is 0s: want more than 0 and up to 10000h\nt.csv:3: arrival is \"x\": want a date",
		},
	} {
		if _, err := ParseTrace("t.csv", strings.NewReader(test.text)); err == nil ||
			!strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q: got %v, want %s", test.text, err, test.want)
		}
	}
	if _, err := ParseTrace("t.csv", strings.NewReader("0,1\n"+strings.Repeat("1", 1<<17))); err == nil ||
		!strings.Contains(err.Error(), "t.csv") {
		t.Error("a line without end is read:", err)
	}
}

// mapped is the trace of the logs in the tests of mappings: three requests of 10, 20 and 30
// ms within a second and a half, the last of them without a deadline of its own.
var mapped = Trace{{0, 10 * ms, "a", 200 * ms}, {500 * ms, 20 * ms, "b", 300 * ms}, {1500 * ms, 30 * ms, "a", 0}}

func TestTraceReader(t *testing.T) {
	for name, test := range map[string]struct {
		reader TraceReader
		log    string
	}{
		"by name, out of order": {
			TraceReader{Arrival: "time", Service: "took", Class: "who", Deadline: "until"},
			"who,took,time,until\na,30ms,2026-03-01T00:00:01.5Z,-\na,0.010,2026-03-01 01:00:00+01:00,2026-03-01T00:00:00.2Z\nb,20000us,\"2026-03-01 00:00:00,5\",0.3\n",
		},
		"by number": {
			TraceReader{Arrival: "1", Service: "3", Class: "2", Deadline: "4"},
			"when\twho\ttook\tuntil\n1700000000\ta\t0.01\t0.2\n1700000000.5\tb\t0.02\t300ms\n1700000001.5\ta\t0.03\t\n",
		},
		"by names from elsewhere": {
			TraceReader{
				Columns: []string{"t", "class", "ms", "d"}, Arrival: "t", Service: "ms",
				Class: "class", Deadline: "d",
			},
			"1700000000000;a;0.01;1700000000200\n1700000000500;b;0.02;1700000000800\n1700000001500;a;0.03;-\n",
		},
		"by formula": {
			TraceReader{
				Arrival: "stamp * us", Service: `10*ms * col(3) + 0*max("out put", 3, -stamp)`,
				Class: "class", Deadline: "d",
			},
			"stamp,class,tokens,out put,d\n1700000000000000,a,1,0,0.2\n1700000000500000,b,2,0,0.3\n1700000001500000,a,3,0,\n",
		},
		"at the end, with spaces": {
			TraceReader{Arrival: "3", Service: "4", Class: "1", Deadline: "2", AtEnd: true},
			"a 0.2 [01/Mar/2026:00:00:00.01 +0000] 0.010\nb   \"0.3\" [01/Mar/2026:01:00:00.52 +0100] 0.020\na - [01/Mar/2026:00:00:01.53 +0000] 0.030\n",
		},
		"spaces, found out": {
			TraceReader{Arrival: "2", Service: "3", Class: "1", Deadline: "4"},
			"a [01/Mar/2026:00:00:00.0 +0000] 0.010 0.2 \"x, y; z\"\nb [01/Mar/2026:00:00:00.5 +0000] 0.020 0.3 \"\"\na [01/Mar/2026:00:00:01.5 +0000] 0.030 - \"\"\n",
		},
		"at the end, with deadlines that are dates": {
			TraceReader{Arrival: "end", Service: "took", Class: "who", Deadline: "until", AtEnd: true},
			`{"end": 1700000000010000001, "took": "10ms", "who": "a", "until": 1700000000200000001}` + "\n" +
				`{"end": 1700000001530000001, "took": "30ms", "who": "a", "until": null}` + "\n" +
				`{"end": 1700000000520000001, "took": "20ms", "who": "b", "until": 1700000000800000001}` + "\n",
		},
		"access log": {
			TraceReader{
				Format: `common "$who" rt=${request_time} d=$d`, Arrival: "time_local",
				Service: "request_time", Class: "who", Deadline: "d",
			},
			`192.0.2.1 - - [01/Mar/2026:00:00:00.0 +0000] "GET /\" HTTP/1.1" 200 5 "a" rt=0.010 d=0.2` + "\n" +
				`192.0.2.1 - - [01/Mar/2026:00:00:00.5 +0000] "" 400 0 "b" rt=0.020 d=0.3` + "\n" +
				`192.0.2.1 - - [01/Mar/2026:00:00:01.5 +0000] "GET / HTTP/1.1" 200 5 "a" rt=0.030 d=-` + "\n",
		},
		"JSON": {
			TraceReader{Arrival: "ts", Service: "response.ms * ms", Class: "who", Deadline: "until"},
			"\xef\xbb\xbf" + `{"ts":1700000000.0, "response": {"ms": 10}, "who": "a", "until": 0.2}` + "\r\n\r\n" +
				`{"ts":1700000000.5, "response": {"ms": "20"}, "who": "b", "until": "300ms"}` + "\n" +
				`{"ts":1700000001.5, "response.ms": 30, "who": "a"}` + "\n",
		},
	} {
		if trace, err := test.reader.Parse("log", strings.NewReader(test.log)); err != nil ||
			!reflect.DeepEqual(trace, mapped) {
			t.Errorf("%s: %+v, %v", name, trace, err)
		}
	}
}

func TestTraceReaderRefuses(t *testing.T) {
	columns := TraceReader{Arrival: "at", Service: "took"}
	for _, test := range []struct {
		reader    TraceReader
		log, want string
	}{
		{TraceReader{}, "192.0.2.1 - - [x] \"GET\" 200 0.3", `log:1: line is "192.0.2.1 - - [x] \"GET\" 200 0.3": want arrival,service[,class], such as 0.5,35ms, or to be told which columns`},
		{TraceReader{}, `{"at": 3}`, `log:1: line is "{\"at\": 3}": want arrival,service[,class], such as 0.5,35ms, or to be told which columns are arrival and service; the columns are at`},
		{TraceReader{}, `::1 - - [01/Mar/2026:00:00:00 +0000] "GET / HTTP/1.1"`, `log:1: line is "::1 - - [01/Mar/2026:00:00:00 +0000] \"GET / HTTP/1.1\"": want arrival,service[,class], such as 0.5,35ms, or to be told the format of the access log`},
		{TraceReader{}, "time,ms,path\n0,1,a", `log:1: line is "time,ms,path": want arrival,service[,class]`},
		{
			TraceReader{Format: "xml"},
			"",
			`format is "xml": want csv, json, common, combined, or the log_format of the server`,
		},
		{TraceReader{Format: "$a$b"}, "", "format has nothing between $a and $b: want a text there"},
		{TraceReader{Format: "$a ${b"}, "", `format is "$a ${b": want a name after each $, as in $status or ${status}`},
		{TraceReader{Format: "$ a"}, "", `format is "$ a": want a name`},
		{TraceReader{Delimiter: '|'}, "", "delimiter is '|': want a comma, a semicolon, a tab or a space"},
		{
			TraceReader{Service: "took"},
			"at,took\n",
			"log:1: arrival is missing: want a column, or a formula of columns; the columns are at, took",
		},
		{
			TraceReader{Format: "combined"},
			"",
			"service is missing: want a column, or a formula of columns; the columns are remote_addr,",
		},
		{
			TraceReader{Arrival: "ts"},
			`{"ts": 1, "b": {"c": 2}}`,
			"service is missing: want a column, or a formula of columns; the columns are b.c, ts",
		},
		{
			TraceReader{Arrival: "ts", Service: "d"},
			`{"ts": 1, "b": {"c": 2}}`,
			`service needs column "d", which is not there; the columns are b.c, ts`,
		},
		{columns, "a,took\n0,1", `log:1: arrival needs column "at", which is not there; the columns are a, took`},
		{columns, "a,b\n0,1", "log:1: arrival needs column \"at\", which is not there; the columns are a, b\nlog:1: service needs column \"took\", which is not there"},
		{
			TraceReader{Arrival: "at", Service: "0"},
			"at\n0",
			"log:1: service is 0, and there is no such column; the columns are at",
		},
		{
			TraceReader{Arrival: "at", Service: "3"},
			"at\n0",
			"log:1: service is 3, and there is no such column; the columns are at",
		},
		{
			TraceReader{Arrival: "at", Service: "1"},
			`{"at": 0}`,
			"service is 1, and there is no such column; the columns are at",
		},
		{TraceReader{Arrival: "1", Service: "col(3)"}, "0,1", "log:1: line has 2 columns: want at least 3"},
		{TraceReader{Arrival: "at", Service: "0.1", Class: "at+1"}, "at\n0", `log:1: class is "at+1": want a column`},
		{columns, "at,took\n0,1\n1,2,3", "log:3: line has 3 columns: want 2: at, took"},
		{columns, "at,took\n0,1\n2026-03-01 12:00:00,2", `log:3: arrival (at) is "2026-03-01 12:00:00", and those before are times since the start: want all of them alike`},
		{columns, "at,took\n0,\n1,-", "log:2: service (took) is \"\": want seconds, or a time with a unit such as 35ms, more than 0 and up to 10000h\nlog:3: service (took) is \"-\""},
		{columns, "at,took\n0,0.000", "log:2: service (took) is 0s: want more than 0 and up to 10000h; where it was too short to be measured, max(took, 0.5*ms) has something"},
		{
			columns, "at,took\n2026-02-30T00:00:00Z,1",
			`log:2: arrival (at) is "2026-02-30T00:00:00Z": want a date such as`,
		},
		{
			columns, "at,took\n1999-03-01T00:00:00Z,1\n2026-03-01T00:00:00Z,1",
			"log:3: arrival (at) is 236688h0m0s after that in line 2: want at most 10000h",
		},
		{columns, "at,took\n0,\"1\n1,2\n", `log:2: line is no CSV: extraneous or missing " in quoted-field`},
		{columns, "\"at,took\n0,1", `log:1: heading is no CSV`},
		{
			TraceReader{Arrival: "at", Service: "2*x"},
			"at,x\n0,y\n1,1s",
			`log:2: service needs x, which is "y": want a number, or a time with a unit such as 35ms`,
		},
		{TraceReader{Arrival: "at", Service: "1/x"}, "at,x\n0,0", "log:2: service is +Inf seconds: want more than 0"},
		{TraceReader{Arrival: "at-5", Service: "1"}, "at\n0", "log:2: arrival is -5s: want 0 to 10000h"},
		{
			TraceReader{Arrival: "at", Service: "x+"},
			"at,x\n0,0",
			`log:1: service is "x+", which is no formula at character 3: expected operand`,
		},
		{
			TraceReader{Arrival: "at", Service: "0.1", Deadline: "d"},
			"at,d\n3,-5s",
			`log:2: deadline (d) is "-5s": want`,
		},
		{
			TraceReader{Arrival: "at", Service: "0.1", Deadline: "d"},
			"at,d\n3,1700000000",
			"log:2: deadline (d) is a date, and the arrival is not: want a time",
		},
		{
			TraceReader{Arrival: "at", Service: "0.1", Deadline: "d"},
			"at,d\n1700000001,1700000000",
			"log:2: deadline (d) is -1s: want more than 0 and up to 10000h after the arrival",
		},
		{
			TraceReader{Format: "$at [$took]", Arrival: "at", Service: "took"},
			"0 1",
			`log:1: line has no " [" after $at: want the format of the log`,
		},
		{
			TraceReader{Format: "$at [$took]", Arrival: "at", Service: "took"},
			"0 [1] 2",
			`log:1: line goes on with " 2": want the whole format of the log`,
		},
		{
			TraceReader{Delimiter: ' ', Arrival: "1", Service: "2"},
			`0 "1`,
			`log:1: line has a " that is not closed: want "`,
		},
		{
			TraceReader{Arrival: "ts", Service: "d"},
			`{"ts": 1, "d": 1}` + "\n[]",
			`log:2: line is no JSON object: json: cannot unmarshal array`,
		},
	} {
		_, err := test.reader.Parse("log", strings.NewReader(test.log))
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%+v of %q:\n got %v\nwant %s", test.reader, test.log, err, test.want)
		}
		if fault := new(FieldError); !errors.As(err, &fault) {
			t.Errorf("%v is no FieldError", err)
		}
	}
}

// TestTraceTellsAll checks that all problems are reported at once, or their number.
func TestTraceTellsAll(t *testing.T) {
	var log strings.Builder
	for i := range 50 {
		service := i
		if i%2 == 0 {
			service = -i - 1
		}
		fmt.Fprintf(&log, "%d,%d\n", i, service)
	}
	_, err := ParseTrace("log", strings.NewReader(log.String()))
	told := strings.Split(err.Error(), "\n")
	if len(told) != 21 || !strings.HasPrefix(told[0], "log:1: ") || !strings.HasPrefix(told[19], "log:39: ") ||
		told[20] != "log: has 5 more problems" {
		t.Errorf("%v", err)
	}
}

// TestTraceTellsOnce checks that the same problem in many lines is reported once.
func TestTraceTellsOnce(t *testing.T) {
	const wrong = "service is 0s: want more than 0 and up to 10000h"
	for rows, want := range map[int]string{
		1: "log:2: " + wrong,
		2: "log:2: " + wrong + " (also in line 3)",
		6: "log:2: " + wrong + " (also in lines 3, 4, 5, 6, 7)",
		7: "log:2: " + wrong + " (also in 6 more lines, such as 3, 4, 5, 6, 7)",
	} {
		_, err := ParseTrace("log", strings.NewReader("0,1\n"+strings.Repeat("1,0\n", rows)))
		if err == nil || err.Error() != want || !errors.As(err, new(*FieldError)) {
			t.Errorf("%d rows: %v, want %s", rows, err, want)
		}
	}
	_, err := ParseTrace("log", strings.NewReader("0,1\n1,0\n2,-1\n3,0\n"))
	if want := "log:2: service is 0s: want more than 0 and up to 10000h (also in line 4)\nlog:3: service is -1s: want more than 0 and up to 10000h"; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestTraceDates(t *testing.T) {
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

// TestTraceResolution checks that requests of a log cut to seconds do not come all at once.
func TestTraceResolution(t *testing.T) {
	times := func(r TraceReader, log string) (at []time.Duration) {
		trace, err := r.Parse("log", strings.NewReader(log))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range trace {
			at = append(at, a.At)
		}
		return at
	}
	for _, test := range []struct {
		reader TraceReader
		log    string
		want   []time.Duration
	}{
		{TraceReader{Arrival: "1", Service: "0.1"}, "1700000000\n1700000001\n1700000000\n", []time.Duration{
			0, 500 * ms, time.Second,
		}},
		{TraceReader{Arrival: "1", Service: "0.1"}, "1700000000\n1700000000\n1700000001.5\n", []time.Duration{
			0, 0, 1500 * ms,
		}},
		{TraceReader{Arrival: "1", Service: "0.1"}, "3\n3\n4\n", []time.Duration{
			3 * time.Second, 3 * time.Second, 4 * time.Second,
		}},
		{TraceReader{Arrival: "1", Service: "0.1", Resolution: 100 * ms}, "3\n3\n4\n", []time.Duration{
			3000 * ms, 3050 * ms, 4000 * ms,
		}},
		{TraceReader{Arrival: "1", Service: "0.1", Resolution: 1}, "1700000000\n1700000000\n", []time.Duration{0, 0}},
		{TraceReader{Arrival: "1", Service: "0.1", AtEnd: true}, "0\n0.25\n", []time.Duration{0, 250 * ms}},
		{TraceReader{Arrival: "1", Service: "2", AtEnd: true}, "1,0.5\n1,0.75\n", []time.Duration{250 * ms, 500 * ms}},
	} {
		if got := times(test.reader, test.log); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%+v of %q: %v, want %v", test.reader, test.log, got, test.want)
		}
	}
}

func TestFormula(t *testing.T) {
	for text, want := range map[string]float64{
		"0.02 + 0.00005*x + 0.03*y": 0.02 + 0.00005*10 + 0.03*4, "x": 10, "`x`": 10, `"x"`: 10, "(x)": 10,
		"-x - -y": -6, "x/y/2": 1.25, "x-y-2": 4, "2*(x-y)": 12,
		"min(x, y, 7)": 4, "max(x)": 10, "max(+3, min(y, x)*2)": 8, "20*ms + 50*us*x": 0.0205,
		"h + m + s + ms + us + ns": 3661.001001001, "1_000": 1000, "5e-5": 5e-5, ".5": .5, "col(2)*x": 40,
		"a.b + a.b.c": 10 + 4,
	} {
		f, problem := parseFormula(text)
		if problem != "" {
			t.Errorf("%s: %s", text, problem)
			continue
		}
		values := map[string]float64{"x": 10, "y": 4, "col(2)": 4, "a.b": 10, "a.b.c": 4}
		var given []float64
		for _, name := range f.names {
			given = append(given, values[name])
		}
		if got := f.value(given); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"x", "`some name`", "a.b", "col(3)"} {
		if f, _ := parseFormula(text); !f.plain {
			t.Errorf("%s is no single column", text)
		}
	}
	for text, want := range map[string]string{
		"":            `is "", which is no formula at character 1: expected operand`,
		"x +* y":      `is "x +* y", in which `,
		"x y":         `is "x y", which is no formula at character 3:`,
		"x % y":       `is "x % y", in which % is unknown: want numbers, columns, + - * /,`,
		"!x":          `in which ! is unknown`,
		"x > y":       `in which > is unknown`,
		"0x10":        `in which 0x10 is no number: want such as 0.02 or 5e-5`,
		"'x'":         `in which character 1 begins what a formula does not have`,
		"sqrt(x)":     `in which character 1: want min(...), max(...) or col(3)`,
		"min()":       `in which character 1: want min(...), max(...) or col(3)`,
		"col(0)":      `in which character 1: want the number of a column from 1`,
		"1 + func(){": `is no formula at character`,
		"x[1]":        `in which character 1 begins what a formula does not have`,
	} {
		if _, problem := parseFormula(text); !strings.Contains(problem, want) {
			t.Errorf("%s: %s, want %s", text, problem, want)
		}
	}
}

func TestCapacity(t *testing.T) {
	for _, test := range []struct {
		server Server
		want   float64
	}{
		{WorkerPool{Workers: 7}, 7},
		{Sharing{Cores: 2.5}, 2.5},
		{Quadratic{Double: 60}, 30},
		{USL{Alpha: 0.02, Beta: 0.98 / 2500}, 50 / (1 + 0.02*49 + 0.98)},
		{USL{Alpha: 0.1}, 10},
		{USL{Alpha: 1, Beta: 1}, 1},
	} {
		// the throughput of any n jobs is at most that, and of one n nearly that
		best := 0.0
		for n := 1; n <= 2000 && test.server != Server(WorkerPool{Workers: 7}); n++ {
			station, err := test.server.Station()
			if err != nil {
				t.Fatal(err)
			}
			for job := range n {
				station.Start(0, Job(job), time.Second)
			}
			best = max(best, float64(n)/station.Next().Seconds())
		}
		got, known := EffectiveWorkers(test.server)
		if !known || math.Abs(got-test.want) > 0.02*test.want || best > got+1e-6 || best > 0 && best < 0.95*got {
			t.Errorf("%+v: %v, want %v; measured %v", test.server, got, test.want, best)
		}
	}
	for _, s := range []Server{Curve(func(float64) float64 { return 1 }), USL{}, Unbounded{}} {
		if got, known := EffectiveWorkers(s); known {
			t.Errorf("%T: %v", s, got)
		}
	}
}

func TestTraceFaster(t *testing.T) {
	trace := Trace{
		{time.Second, 300 * ms, "", 0},
		{2 * time.Second, 100 * ms, "", ms},
		{3 * time.Second, time.Hour, "", 0},
	}
	if got := trace.Offered(); math.Abs(got-0.2) > 1e-9 {
		t.Errorf("offered %v, want 0.2", got)
	}
	fast := trace.Faster(2)
	if math.Abs(fast.Offered()-0.4) > 1e-9 || fast[1] != (Arrival{
		time.Second, 100 * ms, "", ms,
	}) || trace[1].At != 2*time.Second {
		t.Errorf("%v", fast)
	}
	if (Trace{}).Offered() != 0 || trace[:1].Offered() != 0 {
		t.Error("a single request is an endless load")
	}
}

// TestTraceDeadline checks that a request of a trace has a deadline of its own, which
// applies to each attempt.
func TestTraceDeadline(t *testing.T) {
	s := steady(1, func(s *Scenario) {
		s.SLO = 100 * ms
		s.Trace = Trace{
			{0, 50 * ms, "", 40 * ms},
			{time.Second, 50 * ms, "", 0},
			{2 * time.Second, 150 * ms, "", 200 * ms},
		}
		s.Clients = []Client{{Cancel: true}}
	})
	if r := mustRun(t, s, nil, 1); r.Good != 2 || r.Cancelled != 1 {
		t.Errorf("%+v", r.Tally)
	}
	s.Clients[0].Cancel = false
	if r := mustRun(t, s, nil, 1); r.Good != 2 || r.Late != 1 {
		t.Errorf("%+v", r.Tally)
	}
	s.Clients[0].Untold = true
	s.Limiter = Limiter{Max: 1, Initial: 1, Queue: Queue{Size: 5}}
	s.Trace = Trace{{0, 300 * ms, "", time.Second}, {0, 10 * ms, "", 250 * ms}, {0, 10 * ms, "", 320 * ms}}
	if r := mustRun(t, s, nil, 1); r.Good != 2 || r.Requests != 3 {
		t.Errorf("%+v", r.Tally)
	}
}

// TestAccessLog checks that an escaped quote does not end quoted text.
func TestAccessLog(t *testing.T) {
	template, problem := parseTemplate("combined $request_time")
	if problem != "" {
		t.Fatal(problem)
	}
	const line = `192.0.2.1 - bob [01/Mar/2026:00:00:00 +0000] "GET /\" HTTP/1.1" 200 5 "-" "a \"b\" c" 0.010`
	want := []string{
		"192.0.2.1", "bob", "01/Mar/2026:00:00:00 +0000", `GET /\" HTTP/1.1`, "200", "5", "-",
		`a \"b\" c`, "0.010",
	}
	if cells, problem := template.cut(line); problem != "" || !reflect.DeepEqual(cells, want) {
		t.Errorf("%q, %s", cells, problem)
	}
	want = []string{"a b", `c \" d`, "", "e[f"}
	if cells, problem := words(` [a b]   "c \" d" "" e[f `); problem != "" || !reflect.DeepEqual(cells, want) {
		t.Errorf("%q, %s", cells, problem)
	}
}
