// Package knee estimates how the throughput of a server depends on the work in flight, and which
// work in flight is best. It is the mathematics of law.Elastic, whose documentation has the model.
//
// A [Tracker] learns from observations and notices when the curve has changed. Its [Filter] holds
// the posterior, a [Belief] is what the filter says at one moment, and a [Merit] weighs the
// throughput against its price.
package knee
