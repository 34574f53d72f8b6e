// Package chart draws the charts of weir sim as SVG: a grid of plots under one key, in colours for
// light and dark pages.
package chart
