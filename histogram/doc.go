// Package histogram has the public form of the histograms of durations that limiters keep.
//
// # Buckets
//
// The buckets match a Prometheus native histogram of [Schema] 3: bucket i counts the durations
// above 2^((i-1)/8) seconds, up to and including 2^(i/8) seconds. So a duration doubles over eight
// buckets, and a bucket is 9.05% wide. Durations range from 1 nanosecond, in bucket -239, to the
// longest [time.Duration], in bucket 265. Durations of 0 or less count as 1 nanosecond. [Index] is
// exact: it computes with integers only.
//
// # Cumulative
//
// A histogram counts all durations since its limiter began to keep histograms, as monitoring
// systems expect. The difference of two snapshots covers the time between them. Counts are exact.
// Sums are kept as whole nanoseconds in 128 bits and returned as seconds in a float64, which has 15
// digits.
//
// # Quantiles
//
// [Snapshot.Quantile] answers with the harmonic mean of a bucket's bounds, 2*lo*hi/(lo+hi).
// Both bounds have the same relative distance from it:
//
//	(hi-lo)/(hi+lo) = (2^(1/8)-1)/(2^(1/8)+1) = 4.33%
//
// So the answer is within 4.4% of the exact quantile by nearest rank, from 1 microsecond up. Below
// 1 microsecond, the rounding to whole nanoseconds adds to the error.
package histogram
