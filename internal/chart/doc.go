// Package chart is what the command weir tells weir-plot to draw: weir decides what stands
// in a chart and writes it as JSON, weir-plot, which needs a plotting library, draws it.
package chart
