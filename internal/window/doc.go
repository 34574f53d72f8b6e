// Package window measures the work of one limiter: latencies, outcomes, queueing,
// work in flight and its age, over a sliding look-back.
//
// # Time
//
// Every method takes the time, in nanoseconds on any monotonic scale; no method reads a clock. A
// time before the last time counts as the last time. The package has no locks. The caller holds a
// lock, and calls [Meter.Flow] before any other method at the same instant, so that the time until
// then is booked under the earlier state.
//
// # Sliding
//
// Measurements are kept in two generations, the current and the past generation. When the current
// generation is half a look-back old, it becomes the past generation, and the old past generation
// is dropped. So no measurement older than the look-back counts. Once the meter has run for a
// look-back, at least the latter half of the look-back counts. After a pause longer than the
// look-back both generations start empty.
//
// # Restarts
//
// When the limit changes, measurements under the old limit must not judge the new one.
// [Meter.Restart] therefore moves all measurements to the past generation, and hides that
// generation from [Meter.Window] until the current generation next becomes the past. Work that
// started before the restart goes to the past generation as well, whenever it ends. Once the law
// sees the past generation, such stragglers count only in the moving average.
//
// [Raw.Recent] still reads both generations. A restart drops the older past only if the current
// generation is a quarter of a look-back old, and so makes up for it. Otherwise the restart adds
// the current generation to the past, which is then dropped when its oldest part is a look-back
// old. So after a single restart at least a quarter of the look-back counts. With closer restarts,
// the past builds up to a whole look-back and is dropped as a whole.
//
// # Quantiles
//
// Latencies from 1 microsecond to 1 hour are counted in a sketch of octaves
// [2^k, 2^(k+1)), as in HdrHistogram (Tene, http://hdrhistogram.org), and 9 cells in
// each. As in DDSketch (Masson, Rim and Lee, "DDSketch: a fast and fully-mergeable
// quantile sketch with relative-error guarantees", PVLDB 12(12), 2019), the bounds of the
// cells grow geometrically, and a cell [lo, hi) answers with their harmonic mean,
// 2*lo*hi/(lo+hi), which is off by at most
//
//	(hi-lo)/(hi+lo) <= (237-219)/(237+219) = 3.95%
//
// the worst being the eighth cell of any octave: bounds are whole 128ths, so that a table of
// 256 entries finds the cell. So every quantile is within 4%, and the half nanosecond of
// rounding, of the exact one by nearest rank. Counts are exact: a cell of eight bits carries
// into one of 32 that is allocated when first needed. Octaves take memory as they are hit, 18
// bytes each; a service whose latencies spread over three decades fits in 198.
//
// Mean, deviation and least are not taken from the sketch.
//
// # Cumulative
//
// [Cumulative] has the data for monitoring systems, for a meter with [Meter.Accumulate] on:
// histograms that forget nothing, and the peak of the work in flight. Restarts do not change it.
//
// # Ages
//
// The start times of the work in flight are kept as at most four epochs: see the type ages
// for the precision of [Meter.Age].
package window
