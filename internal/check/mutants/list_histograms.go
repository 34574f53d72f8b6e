package main

var ofTheHistograms = []mutant{
	{
		name: "an exemplar function that does not return keeps the slot",
		file: "exemplar.go",
		old:  "p.Release()",
		new:  "",
		test: "TestExemplarThatDoesNotReturn",
	},
	{
		name: "every request is an exemplar",
		file: "exemplar.go",
		old:  "return (at >= next || next-at > sampleEvery) && e.next.CompareAndSwap(next, at+sampleEvery)",
		new:  "return at >= next || next-at > sampleEvery",
		test: "TestExemplarsAreFew",
	},
	{
		name: "a sampled permit does not tell its breaker",
		file: "exemplar.go",
		old:  "done(o)",
		new:  "",
		test: "TestExemplarMayUseItsLimiter",
	},
	{
		name: "a duration at a bound goes to the next bucket",
		file: "histogram/index.go",
		old:  "v > mantissas[n]",
		new:  "v >= mantissas[n]",
		test: "TestIndexIsExact",
	},
	{
		name: "sums overflow",
		file: "internal/window/counts.go",
		old:  "c.high += carry",
		new:  "_ = carry",
		test: "TestSumDoesNotOverflow",
	},
	{
		name: "the peak forgets the span before",
		file: "internal/window/cumulative.go",
		old:  "return int(max(c.peak.now, c.peak.before))",
		new:  "return int(c.peak.now)",
		test: "TestCumulativeIsTheNaiveModel",
	},
	{
		name: "the peak forgets what was in flight when a span began",
		file: "internal/window/cumulative.go",
		old:  "p.before, p.now = p.now, bounded(inflight)",
		new:  "p.before, p.now = p.now, 0",
		test: "TestCumulativeIsTheNaiveModel",
	},
	{
		name: "histograms have only the waits that the law hears of",
		file: "internal/admit/serve.go",
		old:  "n.bookWait(waited)\n\t\tn.meter.Queued(waited)",
		new:  "n.bookWait(waited)\n\t\tif !n.awaitsGroup() {\n\t\t\tn.meter.Queued(waited)\n\t\t}",
		test: "TestAllWaitsAreAccumulated",
	},
	{
		name: "an update does not begin histograms",
		file: "internal/admit/slots.go",
		old:  "m.Accumulate(on, int(s.running()))",
		new:  "",
		in:   ".",
		test: "TestNoHistogramsUnlessAskedFor",
	},
}
