package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/chart"
)

// all is a chart with everything that a chart may have.
func all() *chart.Chart {
	return &chart.Chart{Width: 8, Height: 6, Rows: [][]chart.Plot{
		{{
			Title: "over time", X: "seconds", Y: "limit", XMax: 4, YMax: 12,
			Lines: []chart.Line{
				{Name: "oracle", Guide: true, Points: []chart.Point{{X: 0, Y: 5}, {X: 4, Y: 5}}},
				{Name: "little", Colour: 1, Points: []chart.Point{{X: 0, Y: 2}, {X: 4, Y: 10}}},
				{Name: "little", Colour: 1, Points: []chart.Point{{X: 0, Y: 1}, {X: 4, Y: 9}}},
			},
			Phases: []chart.Phase{{Name: "calm", To: 2}, {Name: "fault", From: 2, To: 4, Shaded: true}},
		}},
		{{
			X: "ratio", Logarithmic: true, XMin: 0.5, XMax: 40, YMax: 102,
			Clouds: []chart.Cloud{{Name: "vegas", Colour: 9, Points: []chart.Point{{X: 1, Y: 90}, {X: 30, Y: 50}}, Centre: chart.Point{X: 3, Y: 70}}},
		}},
	}}
}

// drawn returns the file that the chart was drawn to.
func drawn(t *testing.T, name string) []byte {
	t.Helper()
	var in bytes.Buffer
	if err := all().Write(&in); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := run([]string{file}, &in); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestDrawsSVG(t *testing.T) {
	text := drawn(t, "a.svg")
	for want, times := range map[string]int{"over time": 1, "seconds": 1, "limit": 1, "oracle": 1, "little": 1, "vegas": 1, "calm": 1, "fault": 1, "stroke-dasharray": 2} {
		if n := bytes.Count(text, []byte(want)); n != times {
			t.Errorf("%q stands %d times in the chart, want %d", want, n, times)
		}
	}
	for in := xml.NewDecoder(bytes.NewReader(text)); ; {
		if _, err := in.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestDrawsPNG(t *testing.T) {
	image, err := png.Decode(bytes.NewReader(drawn(t, "a.png")))
	if err != nil {
		t.Fatal(err)
	}
	if size := image.Bounds().Size(); size.X != 8*144 || size.Y != 6*144 {
		t.Errorf("size %v, want 8 by 6 inches of 144 dots", size)
	}
}

func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	const plain = `{"Width": 8, "Height": 5, "Rows": [[{"XMax": 1, "YMax": 1}]]}`
	for _, test := range []struct{ file, chart, want string }{
		{"", plain, "want one argument"},
		{"a.gif", plain, `a.gif": want a file that ends in one of [.svg .png]`},
		{"a.svg", "", "chart: EOF"},
		{"none/a.svg", plain, "no such file or directory"},
	} {
		var args []string
		if test.file != "" {
			args = []string{filepath.Join(dir, test.file)}
		}
		if err := run(args, strings.NewReader(test.chart)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s, %s: %v, want %q", test.file, test.chart, err, test.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind %v, %v", left, err)
	}
}
