// Package uplot has uPlot, which draws charts in browsers: https://github.com/leeoniya/uPlot (MIT).
package uplot
