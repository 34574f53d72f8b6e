package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

func reading(whole bool, at ...int) string {
	var points []string
	for _, at := range at {
		points = append(points, fmt.Sprintf("[%d,20,9,1,2,40,88.5,100,60,40]", at))
	}
	return fmt.Sprintf(`{"details":{"name":"a","whole":%v,"points":[%s],"changes":[],"refusals":[],"decision":"x"}}`+"\n", whole, strings.Join(points, ","))
}

func TestWrittenIsRead(t *testing.T) {
	var file bytes.Buffer
	w := must.Have(NewWriter(&file))(t)
	p := Point{At: 1, Limit: 2, InFlight: 3, Queued: 4, Resting: 5, P50: 6.5, P95: 7.1, Arrived: 8, Completed: 9, Refused: 10}
	messages := []Message{
		{Overview: &Overview{Limiters: []Line{{Name: "a", Limit: 2, P95: 7.1, Shadow: true}}, More: 3}},
		{Details: &Details{Name: "a", Points: []Point{p}, Changes: []Change{{1, 2, true, "why", "text"}}, Refusals: []Refusal{{"full", 7, 1.5}}, Decision: "held", Heat: []Column{{1, []Cell{{-6, 5}, {0, 1<<32 - 1}}}}, Belief: Belief{40.1, 1, 66, "average"}}},
		{Requests: []Request{{At: 1, ID: "r-1", Limiter: "a", Reason: "queue full", Tenant: "b"}}},
	}
	for _, m := range messages {
		if full, err := w.Write(m); full || err != nil {
			t.Fatal(full, err)
		}
	}
	r := must.Have(NewReader(&file))(t)
	for _, want := range messages {
		got, err := r.Next()
		if err != nil || got.Overview != nil && fmt.Sprint(*got.Overview) != fmt.Sprint(*want.Overview) || got.Details != nil && fmt.Sprint(*got.Details) != fmt.Sprint(*want.Details) || fmt.Sprint(got.Requests) != fmt.Sprint(want.Requests) {
			t.Errorf("read %+v, %v", got, err)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
}

func TestHostileRecordingsAreRefusedWithTheLine(t *testing.T) {
	details := func(part string) string { return heading + `{"details":{"name":"a",` + part + "}}\n" }
	for _, c := range [][2]string{
		{"", "the recording is empty"},
		{`{"weir":"recording","version":2}` + "\n", `line 1: is not a recording of this version of weir, which begins with {"weir":"recording","version":1}`},
		{"\x7fELF", "line 1: is not a recording of this version"},
		{heading, "line 2: the recording ends without a reading"},
		{heading + "{}\n", "line 2: is no message"},
		{heading + reading(true, 1) + "\n" + reading(false, 2), "line 3: is no message"},
		{heading + reading(true, 1) + "null\n", "line 3: is no message"},
		{heading + reading(true, 1) + reading(false, 2)[:60], "line 3: is cut off"},
		{heading + reading(true, 1)[:60] + "\n", "line 2: unexpected EOF"},
		{heading + "{} {}\n", "line 2: has more than one value"},
		{heading + "{}}\n", "line 2: has more than one value"},
		{heading + `{"details":{"html":"<script>"}}` + "\n", `line 2: json: unknown field "html"`},
		{heading + reading(true, 2, 1), "line 2: has the reading of 1 after that of 2"},
		{heading + strings.Repeat("x", longestLine) + "\n", fmt.Sprintf("line 2: longer than %d bytes", longestLine)},
		{details(`"points":[[1,2,3]]`), "line 2: a reading has 3 numbers: want 10"},
		{details(`"points":[[1,4e9,0,0,0,0,0,0,0,0]]`), "line 2: json"},
		{details(`"points":[[1,2,0,0,0,0,0,1e999,0,0]]`), "line 2: json"},
		{details(`"heat":[[1,2]]`), "line 2: a column has 2 numbers: want an odd number"},
		{details(`"heat":[[1,2,-3]]`), "line 2: a column has -3 at 2"},
		{details(`"heat":[[1,1000,1]]`), "line 2: a column has 1 at 1000"},
		{details(`"heat":[[1,-1000,1]]`), "line 2: a column has 1 at -1000"},
		{details(`"heat":[[1,2,4294967296]]`), "line 2: a column has 4294967296 at 2"},
		{details(`"heat":[[1` + strings.Repeat(",1,1", 200) + `]]`), "line 2: a column has 401 numbers"},
		{details(`"decision":"x"`), "line 3: the recording ends without a reading"},
		{details(`"heat":[[2],[2]]`), "line 2: has the column of 2 after that of 2"},
		{heading + `{"requests":[]}` + "\n", "line 2: is no message"},
		{heading + `{"requests":[{}` + strings.Repeat(",{}", MostRequests) + "]}\n", "line 2: has 257 requests: want at most 256"},
		{heading + `{"details":{"name":"` + strings.Repeat("x", 129), "line 2: is cut off"},
	} {
		if _, err := Load(strings.NewReader(c[0])); err == nil || !strings.HasPrefix(err.Error(), c[1]) {
			t.Errorf("%.80q: %v, want %s", c[0], err, c[1])
		}
	}
}

func TestRecordingsAreBounded(t *testing.T) {
	var limiters strings.Builder
	limiters.WriteString(heading)
	for i := range mostLimiters + 2 { // tenants of an hour
		fmt.Fprintf(&limiters, `{"details":{"name":"%d","points":[[1,0,0,0,0,0,0,0,0,0]]}}`+"\n", i)
		fmt.Fprintf(&limiters, `{"requests":[{"id":"%d"}]}`+"\n", i)
	}
	all := must.Have(Load(strings.NewReader(limiters.String())))(t)
	if o := all.Overview(); len(o.Limiters) != mostLimiters || o.More != 2 || all.Limiters["0"] == nil {
		t.Errorf("%d limiters, and %d more: want %d of %d", len(o.Limiters), o.More, mostLimiters, mostLimiters+2)
	}
	if n := len(all.Requests); n != MostRequests || all.Requests[n-1].ID != fmt.Sprint(mostLimiters+1) {
		t.Errorf("%d requests, want the last %d", n, MostRequests)
	}
	r := &Reader{in: bufio.NewReader(strings.NewReader(reading(true, 1, 2))), readings: MostReadings - 1}
	if _, err := r.Next(); err == nil || !strings.Contains(err.Error(), "more than 2000000 readings") {
		t.Errorf("too many readings: %v", err)
	}
	w := &Writer{out: io.Discard, readings: MostReadings - 1}
	for i, points := range [][]Point{{{At: 1}, {At: 2}}, {{At: 1}}, {{At: 2}}} {
		if full, err := w.Write(Message{Details: &Details{Points: points}}); full != (i != 1) || err != nil {
			t.Errorf("message %d: full %v, %v, want room for one reading", i, full, err)
		}
	}
	if _, err := w.Write(Message{}); err == nil {
		t.Error("an empty message was written")
	}
	long := Message{Requests: []Request{{ID: strings.Repeat("<", longestLine/6)}}} // JSON writes six bytes for each
	if _, err := (&Writer{out: io.Discard}).Write(long); err == nil {
		t.Error("a line was written that is too long to be read")
	}
}

// After a lost connection a dashboard sends all its readings again.
func TestRepeatedReadingsCountOnce(t *testing.T) {
	heat := func(whole bool, columns string) string {
		return fmt.Sprintf(`{"details":{"name":"a","whole":%v,"heat":[%s]}}`+"\n", whole, columns)
	}
	requests := func(ids ...string) string {
		return `{"requests":[{"at":1,"id":"` + strings.Join(ids, `"},{"at":1,"id":"`) + `"}]}` + "\n"
	}
	all := must.Have(Load(strings.NewReader(heading + reading(true, 1, 2) + reading(false, 3) + reading(true, 2, 3, 4) + reading(false, 2) + reading(false, 5) +
		heat(true, "[1],[2]") + heat(true, "[2],[3]") + requests("a", "b") + requests("b", "c"))))(t)
	if n, r := len(all.Limiters["a"].Heat), all.Requests; n != 3 || len(r) != 3 || r[2].ID != "c" {
		t.Errorf("%d columns, requests %v", n, r)
	}
	changed := strings.Replace(reading(true, 1, 2), `"changes":[]`, `"changes":[{"at":2,"to":3}]`, 1)
	if again := must.Have(Load(strings.NewReader(heading + changed + changed)))(t); len(again.Limiters["a"].Changes) != 1 {
		t.Errorf("changes %+v, want one", again.Limiters["a"].Changes)
	}
	if n := len(all.Limiters["a"].Points); n != 5 {
		t.Errorf("%d readings, want 5", n)
	}
	if from, to := all.Span(); from != 1 || to != 5 {
		t.Errorf("from %d to %d", from, to)
	}
}

// The page goes through all lists of a limiter, also those that a recording leaves out.
func TestNoListIsNull(t *testing.T) {
	all := must.Have(Load(strings.NewReader(heading + reading(true, 1) + `{"details":{"name":"a"}}` + "\n" + `{"details":{"name":"b"}}` + "\n")))(t)
	if text := must.Have(json.Marshal(all.Limiters))(t); bytes.Contains(text, []byte("null")) {
		t.Errorf("%s", text)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(heading + reading(true, 1, 2) + reading(false, 3))
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Load(strings.NewReader(text))
		if err != nil {
			return
		}
		all.Overview()
		all.Span()
	})
}

// Events of a dashboard are messages, and are checked as a reader does.
func TestParse(t *testing.T) {
	for event, data := range map[string]string{
		"overview": `{"limiters":[{"name":"a"}],"more":2}`,
		"details":  `{"name":"a","points":[[1,0,0,0,0,0,0,0,0,0]]}`,
		"requests": `[{"id":"r-1"}]`,
	} {
		m, known, err := Parse(event, []byte(data))
		if err != nil || !known {
			t.Errorf("%s: known is %v, %v", event, known, err)
			continue
		}
		got := map[string]bool{
			"overview": m.Overview != nil && m.Overview.More == 2, "details": m.Details != nil && len(m.Details.Points) == 1,
			"requests": len(m.Requests) == 1 && m.Requests[0].ID == "r-1",
		}
		if !got[event] {
			t.Errorf("%s: %+v", event, m)
		}
		if _, _, err := Parse(event, []byte("[")); err == nil {
			t.Errorf("%s: half of a list is no error", event)
		}
	}
	if _, _, err := Parse("requests", []byte("[]")); err == nil {
		t.Error("a message without a part is no error")
	}
	if _, known, err := Parse("ping", nil); known || err != nil {
		t.Errorf("another event: known is %v, %v", known, err)
	}
}
