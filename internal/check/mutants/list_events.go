package main

var ofTheEvents = []mutant{
	{
		name: "an update ends subscriptions to events",
		file: "limiter.go",
		old:  "l.config.Store(conf.withReaders(l.config.Load().readers()))",
		new:  "l.config.Store(conf)",
		in:   ".",
		test: "TestEventsOfARunningLimiter",
	},
	{
		name: "a limiter that was subscribed to keeps to the long way",
		file: "events.go",
		old:  "next.cold = r.ifNeeded()",
		new:  "next.cold = &r",
		in:   ".",
		test: "TestMemoryAfterEvents",
	},
	{
		name: "the events that a slow reader loses are not counted",
		file: "internal/feed/reader.go",
		old:  "*r.lost(&e) += *r.lost(&oldest) + 1",
		new:  "_ = oldest",
		in:   "./internal/feed",
		test: "TestReaderLosesNothingUncounted",
	},
	{
		name: "new keys of a set are not followed",
		file: "bulkhead/set.go",
		old:  "\t\tlimiters.Follow(c.limiter, r)\n",
		new:  "\t\t_ = r\n",
		in:   "./bulkhead",
		test: "TestEventsOfAllKeys",
	},
}
