package uplot

import "embed"

// Files are the script and its style.
//
//go:embed uPlot.iife.min.js uPlot.min.css
var Files embed.FS
