package spans

import (
	"runtime"
	"strings"
	"testing"
)

const given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestParse(t *testing.T) {
	c, ok := Parse([]string{given})
	if !ok || c.Trace.String() != given[3:35] || c.Parent.String() != given[36:52] || !c.Sampled() || c.Span != (SpanID{}) {
		t.Errorf("%+v %v", c, ok)
	}
	for what, values := range map[string][]string{
		"none":                  nil,
		"two":                   {given, given},
		"empty":                 {""},
		"short":                 {given[:54]},
		"long":                  {given + "-00"},
		"upper case":            {strings.ToUpper(given)},
		"version ff":            {"ff" + given[2:]},
		"no version":            {"0g" + given[2:]},
		"no trace":              {"00-00000000000000000000000000000000-b7ad6b7169203331-01"},
		"no parent":             {"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"},
		"no digit":              {"00-0af7651916cd43dd8448eb211c80319x-b7ad6b7169203331-01"},
		"no dash":               {"00-0af7651916cd43dd8448eb211c80319c b7ad6b7169203331-01"},
		"no flags":              {given[:53] + "0x"},
		"later version, no end": {"01" + given[2:] + "00"},
	} {
		if c, ok := Parse(values); ok || c != (Context{}) {
			t.Errorf("%s: %+v", what, c)
		}
	}
	if _, ok := Parse([]string{"01" + given[2:] + "-more"}); !ok {
		t.Error("a later version may say more")
	}
}

// Strangers may send a header of any length that net/http takes, with each request.
func TestParseOfManyParts(t *testing.T) {
	values := []string{strings.Repeat("-", 60_000)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, ok := Parse(values); ok {
		t.Error("a header of dashes is valid")
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 60_000 {
		t.Errorf("%d bytes for a header of 60,000", took)
	}
}

func TestStart(t *testing.T) {
	always, never := tracer(1), tracer(0)
	for what, c := range map[string]struct {
		tracer  *Tracer
		header  string
		trusted bool
		sampled bool
	}{
		"trusted, sampled":     {never, given, true, true},
		"trusted, not sampled": {always, given[:53] + "00", true, false},
		"stranger, sampled":    {never, given, false, false},
		"stranger, not":        {always, given[:53] + "00", false, true},
	} {
		got := c.tracer.Start([]string{c.header}, c.trusted)
		if got.Trace.String() != given[3:35] || got.Parent.String() != given[36:52] || got.Sampled() != c.sampled {
			t.Errorf("%s: %+v", what, got)
		}
		if got.Sampled() != (got.Span != SpanID{}) {
			t.Errorf("%s: span %v", what, got.Span)
		}
		told, ok := Parse([]string{got.Traceparent()})
		if want := map[bool]SpanID{true: got.Span, false: got.Parent}[c.sampled]; !ok || told.Parent != want || told.Sampled() != c.sampled {
			t.Errorf("%s: the upstream hears %s", what, got.Traceparent())
		}
	}
}

func TestStartOfATrace(t *testing.T) {
	seen := map[TraceID]bool{}
	for share, tracer := range []*Tracer{tracer(0), tracer(1)} {
		for _, header := range [][]string{nil, {"garbage"}, {given, given}} {
			c := tracer.Start(header, true)
			if seen[c.Trace] || c.Parent != (SpanID{}) || c.Sampled() != (share == 1) {
				t.Errorf("%q: %+v", header, c)
			}
			if _, ok := Parse([]string{c.Traceparent()}); !ok {
				t.Errorf("%q: the upstream hears %s", header, c.Traceparent())
			}
			seen[c.Trace] = true
		}
	}
	if c := (*Tracer)(nil).Start([]string{given}, true); c != (Context{}) {
		t.Errorf("no tracer: %+v", c)
	}
}

func TestShare(t *testing.T) {
	tracer, sampled := tracer(0.25), 0
	for range 10_000 {
		if tracer.Start(nil, false).Sampled() {
			sampled++
		}
	}
	if sampled < 2_000 || sampled > 3_000 { // more than ten standard deviations
		t.Errorf("%d of 10,000 with a share of 1/4", sampled)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(given)
	f.Add("01" + given[2:] + "-x")
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := Parse([]string{text})
		if !ok {
			return
		}
		if again, ok := Parse([]string{c.Traceparent()}); !ok || again != c {
			t.Errorf("%q: %+v, then %+v", text, c, again)
		}
	})
}
