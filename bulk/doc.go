// Package bulk imports any number of lines, of any size, into a database in bounded memory. An
// import that was killed continues from its journal.
//
//	progress, err := bulk.Run(ctx, file, bulk.Config{
//		Write:   func(ctx context.Context, l bulk.Line) error { return put(ctx, l.Text) },
//		Memory:  gov,                 // a memory.Governor: bounds the bytes in flight
//		Journal: "orders.journal",    // written so far: a second run continues from there
//		Marks:   marks,               // in the store: a journal of another store is an error
//		Rejects: "orders.rejects",    // lines that Write rejected, with their numbers
//	})
//
// One goroutine reads. A fixed number of workers writes, so that lines are written in any order.
// The bytes of a line are taken from the governor's budget before the line is copied, and given
// back when its write is acknowledged.
//
// # The journal
//
// The journal has the line up to which all lines are acknowledged: Write returned nil, or rejected
// the line. It is replaced as a whole five times a second, so that an import may be killed at any
// instant. The next run starts behind that line, and writes the later lines again that were
// acknowledged already. So no acknowledged line is lost, and no line is in the store twice if Write
// replaces the record with the same key. A source that is not the source of the journal is an error
// ([ErrChanged]).
//
// The journal is a file beside the store, which may be removed, replaced or restored from a backup
// without it. With [Config].Marks the store keeps the number of lines that it has. A smaller number
// than in the journal is an error ([ErrStore]).
//
// A store may acknowledge data before it is on disk. Such data survives the end of the process, and
// may be lost if the machine crashes. For such stores, set [Config].Sync, which is called before
// the journal is written.
//
// # Errors
//
// An error of Write stops the import, unless [Reject] made it: a full disk is not the fault of the
// line, and the lines behind it would fail too. The error names the line. The journal has the lines
// acknowledged until then, so that the import continues when it is run again. A line that is longer
// than MaxLine is rejected and skipped. A line without an end stops the import once it is 64 times
// as long.
package bulk
