package main

// ofTheStore are those of a relay's store.
var ofTheStore = []mutant{
	{
		name: "an older version replaces a newer one",
		file: "examples/relay/store/save.go",
		old:  "found && newest.before(stampOf(",
		new:  "found && !newest.before(stampOf(",
		test: "TestRules",
	},
	{
		name: "a deletion removes what others wrote",
		file: "examples/relay/store/delete.go",
		old:  "len(kind) == 2 && binary.BigEndian.Uint16(kind) != nostr.KindDeletion, err",
		new:  "len(kind) == 0 || binary.BigEndian.Uint16(kind) != nostr.KindDeletion, err",
		test: "TestRules",
	},
	{
		name: "what was deleted comes back with an import",
		file: "examples/relay/store/delete.go",
		old:  "err != nil || mark != nil {",
		new:  "err != nil || len(mark) > 0 {",
		test: "TestRules",
	},
	{
		name: "an earlier deletion takes the place of a later one",
		file: "examples/relay/store/delete.go",
		old:  "found && until >= d.until",
		new:  "found && until == d.until",
		test: "TestRules",
	},
	{
		name: "an event in two ranges is found twice",
		file: "examples/relay/store/cursor.go",
		old:  "if c.begun && !c.last.before(s) {",
		new:  "if c.begun && s.before(c.last) {",
		test: "TestFilters",
	},
	{
		name: "a step looks into as many ranges as there are",
		file: "examples/relay/store/cursor.go",
		old:  "keys -= read",
		new:  "keys -= min(read, 1)",
		test: "TestStepsAreBounded",
	},
	{
		name: "a range is not read further ahead than at first",
		file: "examples/relay/store/span.go",
		old:  "s.window = min(2*s.window, mostAhead)",
		new:  "_ = 0",
		test: "TestReadAhead",
	},
	{
		name: "Badger is closed under a cursor",
		file: "examples/relay/store/open.go",
		old:  "\ts.users.Wait()\n",
		new:  "",
		test: "TestCloseWaits",
	},
	{
		name: "what a client keeps asks the governor for nothing",
		file: "examples/relay/relay/share.go",
		old:  "s.bytes > s.own+len(s.holds)*quantum",
		new:  "s.bytes > 1<<40",
		test: "TestSharesAgainstSums",
	},
	{
		name: "a subscription is opened for which there is no memory",
		file: "examples/relay/relay/queries.go",
		old:  "if !q.conn.kept.take(next.weight) {",
		new:  "if q.conn.kept.force(next.weight); false {",
		test: "TestSubscriptionsThatDoNotFitAreRefused",
	},
	{
		name: "a slice that was short keeps what was reserved for it",
		file: "examples/relay/relay/outbox.go",
		old:  "o.give(max(reserved-size, 0))",
		new:  "_ = reserved",
		test: "TestOutboxesAgainstSums",
	},
	{
		name: "sockets that say nothing have no bound",
		file: "examples/relay/relay/listener.go",
		old:  "if denied == nil {",
		new:  "if denied == nil || true {",
		test: "TestSocketsThatAreRefused",
	},
}
