package chart

import (
	"fmt"
	"html"
	"strings"
)

// hues are the colours of laws, distinguishable by the colour-blind (Okabe and Ito).
var hues = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c8c8c"}

func (p *page) plot(a area) {
	p.axes(a)
	p.clips++
	p.printf(`<clipPath id="area%d"><rect x="%s" y="%s" width="%s" height="%s"/></clipPath>`+"\n",
		p.clips, px(a.left), px(a.top), px(a.width), px(a.height))
	p.printf(`<g clip-path="url(#area%d)">`+"\n", p.clips)
	p.phases(a)
	for _, line := range a.Lines {
		points := make([]Point, len(line.Points))
		for i, at := range line.Points {
			points[i] = Point{a.x(at.X), a.y(at.Y)}
		}
		p.stroke(line, points...)
	}
	p.printf("</g>\n")
	p.printf(`<rect class="frame" x="%s" y="%s" width="%s" height="%s"/>`+"\n", px(a.left), px(a.top), px(a.width), px(a.height))
}

// axes draws the grid with its labels, and the texts around it.
func (p *page) axes(a area) {
	for _, v := range roundTicks(a.XMax, int(a.width/80)) {
		x := px(a.x(v))
		p.printf(`<path class="grid" d="M%s %sV%s"/><text class="faint" x="%s" y="%s" text-anchor="middle">%s</text>`+"\n",
			x, px(a.top), px(a.bottom()), x, px(a.bottom()+textHeight-2), label(v))
	}
	for _, v := range roundTicks(a.YMax, int(a.height/22)) {
		y := a.y(v)
		p.printf(`<path class="grid" d="M%s %sH%s"/><text class="faint" x="%s" y="%s" text-anchor="end">%s</text>`+"\n",
			px(a.left), px(y), px(a.right()), px(a.left-5), px(y+4), label(v))
	}
	centre, middle := px(a.left+a.width/2), px(a.top+a.height/2)
	p.text(a.Title, centre, px(a.top-8), `text-anchor="middle" font-size="13"`)
	p.text(a.X, centre, px(a.bottom()+axisHeight+textHeight-4), `text-anchor="middle"`)
	beside := px(a.left - axisWidth + textHeight - 4)
	p.text(a.Y, beside, middle, fmt.Sprintf(`text-anchor="middle" transform="rotate(-90 %s %s)"`, beside, middle))
}

func (p *page) text(text, x, y, attributes string) {
	if text != "" {
		p.printf(`<text x="%s" y="%s" %s>%s</text>`+"\n", x, y, attributes, html.EscapeString(text))
	}
}

// phases shades the phases, and names them at the top.
func (p *page) phases(a area) {
	for _, phase := range a.Phases {
		left, right := a.x(phase.From), a.x(phase.To)
		if phase.Shaded {
			p.printf(`<rect class="shade" x="%s" y="%s" width="%s" height="%s"/>`+"\n", px(left), px(a.top), px(right-left), px(a.height))
		}
		p.printf(`<text class="faint" x="%s" y="%s" font-size="10">%s</text>`+"\n", px(left+4), px(a.top+11), html.EscapeString(phase.Name))
	}
}

func (p *page) stroke(line Line, points ...Point) {
	paint := fmt.Sprintf(`stroke="%s" stroke-width="1.6"`, hues[line.Colour%len(hues)])
	if line.Dashes != "" {
		paint = fmt.Sprintf(`class="guide" stroke-width="1.2" stroke-dasharray="%s"`, line.Dashes)
	}
	var d strings.Builder
	for _, at := range points {
		fmt.Fprintf(&d, " %s,%s", px(at.X), px(at.Y))
	}
	p.printf(`<polyline fill="none" %s stroke-linejoin="round" points="%s"/>`+"\n", paint, strings.TrimSpace(d.String()))
}
