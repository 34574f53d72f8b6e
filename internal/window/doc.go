// Package window measures the work of one limiter: latencies, outcomes, queueing,
// work in flight and its age, over a sliding look-back.
//
// # Time
//
// Every method takes the time, in nanoseconds on any monotonic scale; none reads
// a clock. A time before the last one seen counts as the last one. Nothing here
// locks: the caller does, and calls [Meter.Flow] before anything else that happens
// at the same instant, so that the time until then is booked under the former state.
//
// # Sliding
//
// Measurements are kept by two generations, the current and the past one. When the
// current one is half a look-back old it becomes the past one, and the former past
// one is dropped. So nothing older than the look-back counts and, once the meter has
// run so long, at least its latter half does. After a pause longer than the look-back
// both start empty.
//
// # Restarts
//
// When the limit changes, measurements under the old one must not judge the new
// one. [Meter.Restart] therefore sends all that was measured to the past generation,
// and hides that from [Meter.Window] until the current one next becomes the past.
// Work that started before the restart goes to the past one as well, whenever it ends.
// Once the past generation is one that the law sees, such stragglers count nowhere
// but in the moving average.
//
// [Raw.Recent] goes on seeing both. A restart drops the older past only if the
// current generation makes up for it by being a quarter of a look-back old; otherwise
// it adds the current to the past, which then leaves when its oldest part has to. After
// a single restart, so, at least a quarter of the look-back counts. Restarts that follow
// each other more closely than that have the past build up to a whole look-back
// and leave at once.
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
// the worst being the eighth cell of any octave: bounds are whole 128ths, so that a
// table of 256 entries finds the cell. So every quantile is within 4%, and the half
// nanosecond of rounding, of the exact one by nearest rank. Counts are exact: a cell of
// eight bits carries into one of 32 that is made when first needed. Octaves take
// memory as they are hit, 18 bytes each; a service whose latencies spread over three
// decades fits in 198.
//
// Mean, deviation and least are not taken from the sketch. The current generation
// holds them in 64 bits, the past one in 32 (seven digits).
//
// # Cumulative
//
// [Cumulative] has the figures for monitoring systems, for a meter that was asked to
// [Meter.Accumulate]: histograms that forget nothing, and the peak of the work in flight. Restarts
// do not touch it.
//
// # Ages
//
// The start times of the work in flight are kept as at most four epochs: see the
// type ages for how exact [Meter.Age] is.
package window
