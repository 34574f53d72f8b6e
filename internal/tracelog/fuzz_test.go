package tracelog

import (
	"strings"
	"testing"
	"time"
)

func FuzzZeroReader(f *testing.F) {
	f.Add("arrival,service\n0,1\n1.5,10ms,class\n")
	f.Fuzz(func(t *testing.T, text string) { readsWell(t, Reader{}, text) })
}

func FuzzReader(f *testing.F) {
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

// readsWell checks that a trace is in order and in range, and that an error has a location.
func readsWell(t *testing.T, r Reader, text string) {
	trace, err := r.Read("f", strings.NewReader(text), at)
	if err != nil {
		fields := []string{"f:", "arrival", "service", "class", "deadline", "format"}
		for _, field := range fields {
			if strings.HasPrefix(err.Error(), field) {
				return
			}
		}
		t.Fatalf("an error without a place: %v", err)
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
