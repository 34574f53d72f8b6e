package main

// ofTheMemory are those of what keeps a process inside its memory.
var ofTheMemory = []mutant{
	{
		name: "a step that came late counts as one in time",
		file: "memory/control.go",
		old:  "min(r.at-c.judged, longestStep)",
		new:  "period",
		in:   "./memory",
		test: "TestTargetTooSmallNowAndThen",
	},
	{
		name: "a process that was stopped was without room meanwhile",
		file: "memory/control.go",
		old:  "longestStep = time.Second",
		new:  "longestStep = time.Hour",
		in:   "./memory",
		test: "TestTimeThatNoStepSaw",
	},
	{
		name: "more than the target counts as no room",
		file: "memory/control.go",
		old:  "during *= exceeding",
		new:  "during *= 1",
		in:   "./memory",
		test: "TestTargetTooSmallNowAndThen",
	},
	{
		name: "work in flight is taken for the store",
		file: "memory/control.go",
		old:  "idle := little && r.collected > c.stale",
		new:  "idle := atFloor",
		in:   "./memory",
		test: "TestTargetTooSmallIsNotTheWorkInFlight",
	},
	{
		name: "the memory limit is below what is needed",
		file: "memory/control.go",
		old:  "return max(limit, need/(1-garbageShare))",
		new:  "return limit",
		in:   "./memory",
		test: "TestLimitLeavesATenthAndWhatIsOffHeap",
	},
	{
		name: "garbage leaves nothing to mapped files",
		file: "memory/control.go",
		old:  "if c.files {",
		new:  "if false {",
		in:   "./memory",
		test: "TestGarbageMakesRoomForMappedFiles",
	},
	{
		name: "resident memory is looked at no more often than Run decides",
		file: "memory/pager.go",
		old:  "lookEvery = 10 * time.Millisecond",
		new:  "lookEvery = period",
		in:   "./memory",
		test: "TestFastStoreStaysInsideTheTarget",
	},
	{
		name: "pages are taken back in vain again and again",
		file: "memory/pager.go",
		old:  "p.next = max(p.next, at+vainEvery)",
		new:  "_ = at",
		in:   "./memory",
		test: "TestPagesAreTakenBackWhereResidentMemoryIsHigh",
	},
}
