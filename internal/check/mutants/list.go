package main

// mutants is the list. To add one: take a line that a test is there for, break
// it the way a tired colleague would, and name the test.
var mutants = []mutant{
	{
		name: "a limit above the maximum is let through",
		file: "law/law.go",
		old:  "return int(min(max(limit, float64(b.Min)), float64(b.Max)))",
		new:  "return int(max(limit, float64(b.Min)))",
		in:   "./internal/check",
		test: "TestClampedLimitIsWithinBounds",
	},
}
