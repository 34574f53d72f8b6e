package main

import (
	"bytes"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/chromium"
	"github.com/weir-go/weir/internal/must"
)

var animation = flag.String("animation", "", "a `file` for an animation of the dashboard during weir demo limit, as GIF; it takes a minute")

const (
	frames     = 20
	eachFrame  = 3 * time.Second
	mostColors = 40
	mostBytes  = 500_000 // bytes of the file
)

// The animation of the documents is a run of the demonstration. It differs each time, so
// scripts/pictures does not make it.
func TestAnimation(t *testing.T) {
	if *animation == "" {
		t.Skip("takes a minute: ask for it with -animation")
	}
	t.Setenv("BROWSER", "true")
	messages, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(t.Context(), []string{"demo", "limit", "--open", "--duration", "60s"}, io.Discard, in)
	}()
	line := make([]byte, 200)
	n, err := messages.Read(line)
	address, ok := strings.CutPrefix(strings.TrimSpace(string(line[:n])), "weir: the dashboard is on ")
	if err != nil || !ok {
		t.Fatalf("said %q: %v", line[:n], err)
	}
	go func() { _, _ = io.Copy(io.Discard, messages) }()
	tab := chromium.Start(t)
	tab.Look(t, 800, 720, "light")
	tab.Open(t, address+"#adaptive")
	var shots []image.Image
	for tick := time.Tick(eachFrame); len(shots) < frames; <-tick {
		shots = append(shots, must.Have(png.Decode(bytes.NewReader(tab.Screenshot(t))))(t))
	}
	var out bytes.Buffer
	must.Do(t, gif.EncodeAll(&out, animate(shots)))
	if out.Len() > mostBytes {
		t.Errorf("%d bytes, want at most %d", out.Len(), mostBytes)
	}
	must.Do(t, os.WriteFile(*animation, out.Bytes(), 0o666))
	t.Logf("%d frames, %d bytes", len(shots), out.Len())
}

// animate makes an animation in the most frequent colours. A pixel that stays is transparent.
func animate(shots []image.Image) *gif.GIF {
	palette := append(color.Palette{color.RGBA{}}, frequent(shots, mostColors)...)
	index := map[color.Color]uint8{}
	out := &gif.GIF{}
	var before *image.Paletted
	for _, shot := range shots {
		whole := image.NewPaletted(shot.Bounds(), palette)
		for y := range shot.Bounds().Dy() {
			for x := range shot.Bounds().Dx() {
				c := shot.At(x, y)
				i, ok := index[c]
				if !ok {
					i = uint8(1 + palette[1:].Index(c))
					index[c] = i
				}
				whole.SetColorIndex(x, y, i)
			}
		}
		frame := whole
		if before != nil {
			frame = image.NewPaletted(whole.Rect, palette)
			for i := range whole.Pix {
				if whole.Pix[i] != before.Pix[i] {
					frame.Pix[i] = whole.Pix[i]
				}
			}
		}
		before = whole
		out.Image, out.Delay, out.Disposal = append(out.Image, frame), append(out.Delay, 60), append(out.Disposal, gif.DisposalNone)
	}
	out.Delay[len(out.Delay)-1] = 300
	return out
}

func frequent(shots []image.Image, most int) (all color.Palette) {
	counts := map[color.RGBA]int{}
	for _, shot := range shots {
		plain := image.NewRGBA(shot.Bounds())
		draw.Draw(plain, plain.Rect, shot, shot.Bounds().Min, draw.Src)
		for i := 0; i < len(plain.Pix); i += 4 {
			counts[color.RGBA{plain.Pix[i], plain.Pix[i+1], plain.Pix[i+2], 255}]++
		}
	}
	for c := range counts {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.Color) int { return counts[b.(color.RGBA)] - counts[a.(color.RGBA)] })
	return all[:min(len(all), most)]
}
