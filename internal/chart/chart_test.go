package chart

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func TestReadsWhatWasWritten(t *testing.T) {
	want := &Chart{Width: 8, Height: 5, Rows: [][]Plot{{{
		Title: "t", XMin: 1, XMax: 2, YMax: 3, Logarithmic: true,
		Lines:  []Line{{Name: "l", Guide: true, Points: []Point{{1, 2}}}},
		Clouds: []Cloud{{Name: "c", Colour: 1, Points: []Point{{1, 2}}, Centre: Point{1, 2}}},
		Phases: []Phase{{Name: "p", From: 1, To: 2, Shaded: true}},
	}}}}
	var text bytes.Buffer
	if err := want.Write(&text); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(&text); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n got %+v\nwant %+v", err, got, want)
	}
}

func TestRefusesWhatCannotBeDrawn(t *testing.T) {
	for text, want := range map[string]string{
		``:                          "chart: EOF: want what weir",
		`{"Depth": 3}`:              `chart: json: unknown field "Depth": want what weir of the same version writes`,
		`{}`:                        "chart: size is 0 by 0: want more than 0 inches",
		`{"Width": 8, "Height": 5}`: "chart: no plots: want one at least",
		`{"Width": 8, "Height": 5, "Rows": [[]]}`:                                                                     "chart: no plots",
		`{"Width": 8, "Height": 5, "Rows": [[{}], [{}, {}]]}`:                                                         "chart: row 2 has 2 plots: want 1, as the first has",
		`{"Width": 8, "Height": 5, "Rows": [[{}, {"Logarithmic": true}]]}`:                                            "chart: plot 2 of row 1 has an X of 0: want more than 0",
		`{"Width": 8, "Height": 5, "Rows": [[{"Logarithmic": true, "XMin": 1, "Clouds": [{}]}]]}`:                     "chart: plot 1 of row 1 has an X of 0",
		`{"Width": 8, "Height": 5, "Rows": [[{"Logarithmic": true, "XMin": 1, "Lines": [{"Points": [{"X": -1}]}]}]]}`: "chart: plot 1 of row 1 has an X of -1",
		`{"Width": 8, "Height": 5, "Rows": [[{"Logarithmic": true, "XMin": 1, "Phases": [{"To": 1}]}]]}`:              "chart: plot 1 of row 1 has an X of 0",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
