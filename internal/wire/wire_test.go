package wire_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/wire"
)

type part struct {
	DrainRate float64
	PID       int
	hidden    int
}

func (part) String() string { return "in words" }

type unit uint8

func (unit) String() string { return "bytes" }

type text struct{}

func (text) MarshalText() ([]byte, error) { return []byte("as text"), nil }

type broken struct{}

func (broken) MarshalJSON() ([]byte, error) { return nil, errors.New("broken") }

type whole struct {
	Name   string `wire:"title"`
	Age    time.Duration
	Err    error
	Last   error
	Unit   unit
	Text   text
	Part   part
	Parts  []part
	ByName map[string]part
	By     map[unit]float64
	Next   *int
	None   []part
}

func (w whole) MarshalJSON() ([]byte, error) { return wire.JSON(w) }

func TestString(t *testing.T) {
	for _, test := range []struct {
		snapshot any
		want     string
	}{
		{
			whole{
				Name: "a \"b\"", Age: 1500 * time.Microsecond, Err: errors.New("stale"), Part: part{DrainRate: math.Inf(1), hidden: 1},
				Parts: []part{{1, 2, 3}, {}}, ByName: map[string]part{"b": {PID: 1}, "a": {}}, By: map[unit]float64{7: math.NaN()},
			},
			`{"title":"a \"b\"","age_ms":1.5,"err":"stale","last":null,"unit":"bytes","text":"as text","part":{"drain_rate":null,"pid":0},` +
				`"parts":[{"drain_rate":1,"pid":2},{"drain_rate":0,"pid":0}],"by_name":{"a":{"drain_rate":0,"pid":0},"b":{"drain_rate":0,"pid":1}},` +
				`"by":{"bytes":null},"next":null,"none":[]}`,
		},
		{[]part{}, "[]"},
		{struct{ Inner broken }{}, `{"error":"json: error calling MarshalJSON for type wire_test.broken: broken"}`},
		{[]broken{{}}, `{"error":"json: error calling MarshalJSON for type wire_test.broken: broken"}`},
	} {
		if got := wire.String(test.snapshot); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}
