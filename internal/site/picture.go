package main

import (
	"bytes"
	"image"
	_ "image/gif" // as pictures are
	_ "image/png"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/yuin/goldmark/ast"
)

// svgSize finds the size of an SVG in its first tag.
var svgSize = regexp.MustCompile(`^<svg [^>]*\bwidth="(\d+)" height="(\d+)"`)

// setSize gives a picture its size, so that the page does not move when it is loaded. A file of
// unknown size gets none.
func (s *site) setSize(n *ast.Image, file string) {
	text, err := os.ReadFile(filepath.Join(s.root, file))
	if err != nil {
		return // the link is wrong, or leads elsewhere
	}
	var width, height string
	if found := svgSize.FindSubmatch(text); found != nil {
		width, height = string(found[1]), string(found[2])
	} else if c, _, err := image.DecodeConfig(bytes.NewReader(text)); err == nil {
		width, height = strconv.Itoa(c.Width), strconv.Itoa(c.Height)
	} else {
		return
	}
	n.SetAttributeString("width", []byte(width))
	n.SetAttributeString("height", []byte(height))
	if filepath.Ext(file) == ".gif" { // animations are large
		n.SetAttributeString("loading", []byte("lazy"))
	}
}
