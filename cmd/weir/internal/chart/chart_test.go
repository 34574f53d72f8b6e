package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

func all() *Chart {
	return &Chart{Title: "little & <vegas>", Width: 600, Height: 110, Rows: [][]Plot{
		{{
			Title: "over time", X: "seconds", Y: "limit", XMax: 6, YMax: 10,
			Lines: []Line{
				{Name: "oracle", Dashes: Dashed, Points: []Point{{0, 5}, {6, 5}}},
				{Name: "SLO", Dashes: Dotted, Points: []Point{{0, 8}, {6, 8}}},
				{Name: "little", Colour: 1, Points: []Point{{0, 0}, {3, 5}, {6, 20}}},
				{Name: "little", Colour: 1, Points: []Point{{0, 1}, {6, 9}}},
			},
			Phases: []Phase{{Name: "calm", To: 2}, {Name: "fault <1>", From: 2, To: 6, Shaded: true}},
		}},
		{{X: "seconds", XMax: 6, YMax: 102, Lines: []Line{{Name: "vegas", Colour: 9, Points: []Point{{0, 102}, {6, 51}}}}}},
	}}
}

func drawn(t *testing.T, c *Chart) string {
	t.Helper()
	var out bytes.Buffer
	if n, err := c.WriteTo(&out); err != nil || n != int64(out.Len()) {
		t.Fatalf("%d bytes, %v", n, err)
	}
	return out.String()
}

type element struct {
	name, text string
	attributes map[string]string
}

func elements(t *testing.T, svg string) (all []element) {
	t.Helper()
	in := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attributes: map[string]string{}}
			for _, a := range token.Attr {
				e.attributes[a.Name.Local] = a.Value
			}
			all = append(all, e)
		case xml.CharData:
			if text := strings.TrimSpace(string(token)); text != "" {
				all[len(all)-1].text = text
			}
		}
	}
}

func TestTextsStandOnceEach(t *testing.T) {
	var got []string
	for _, e := range elements(t, drawn(t, all())) {
		if e.name == "text" || e.name == "title" {
			got = append(got, e.text)
		}
	}
	want := []string{
		"little & <vegas>", "oracle", "SLO", "little", "vegas",
		"0", "1", "2", "3", "4", "5", "6", "0", "2", "4", "6", "8", "10", "over time", "seconds", "limit", "calm", "fault <1>",
		"0", "1", "2", "3", "4", "5", "6", "0", "50", "100", "seconds",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestValuesStandWhereTheAxesSay(t *testing.T) {
	var lines, frames []string
	ticks := map[string]string{}
	for _, e := range elements(t, drawn(t, all())) {
		switch a := e.attributes; {
		case e.name == "polyline":
			lines = append(lines, a["points"])
		case e.name == "rect" && a["class"] == "frame":
			frames = append(frames, fmt.Sprint(a["x"], " ", a["y"], " ", a["width"], " ", a["height"]))
		case e.name == "text" && a["text-anchor"] == "middle" && a["class"] == "faint":
			ticks[e.text] = a["x"] + " " + a["y"]
		}
	}
	if want := []string{"72 106 600 110", "72 276 600 110"}; !slices.Equal(frames, want) {
		t.Fatalf("data areas at %q, want %q", frames, want)
	}
	// After the entries of the key. The value above the axis is drawn above the area, which
	// cuts it off.
	if want := []string{"72,161 672,161", "72,128 672,128", "72,216 372,161 672,-4", "72,205 672,117", "72,276 672,331"}; !slices.Equal(lines[4:], want) {
		t.Errorf("lines %q, want %q", lines[4:], want)
	}
	for text, want := range map[string]string{"4": "472 400", "0": "72 400", "6": "672 400"} {
		if ticks[text] != want {
			t.Errorf("tick %s at %s, want %s", text, ticks[text], want)
		}
	}
}

func TestAllThatIsDrawnIsOnThePage(t *testing.T) {
	c := all()
	c.Rows[0] = append(c.Rows[0], Plot{XMax: 1, YMax: 1})
	c.Rows[1] = append(c.Rows[1], Plot{XMax: 1, YMax: 1, X: "x"})
	found := elements(t, drawn(t, c))
	if got, want := found[0].attributes["viewBox"], "0 0 1356 436"; got != want {
		t.Errorf("page of %s, want %s", got, want)
	}
	last := found[len(found)-1].attributes
	if last["x"] != "742" || last["y"] != "276" || last["width"] != "600" || last["height"] != "110" {
		t.Errorf("last data area %v, want it at the right of a page of 1356 by 436", last)
	}
}

func TestStrokes(t *testing.T) {
	text := drawn(t, all())
	for want, times := range map[string]int{
		`stroke-dasharray="6 4"`: 2, `stroke-dasharray="2 3"`: 2, `stroke="#d55e00"`: 3, `class="shade"`: 1,
		`stroke="#009e73"`: 2, "prefers-color-scheme:dark": 1,
	} {
		if n := strings.Count(text, want); n != times {
			t.Errorf("%s stands %d times in the chart, want %d", want, n, times)
		}
	}
}
