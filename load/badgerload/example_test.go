package badgerload_test

import (
	"context"
	"fmt"
	"log"

	"github.com/dgraph-io/badger/v4"

	"github.com/weir-go/weir/load/badgerload"
)

func ExampleNew() {
	db, err := badger.Open(badger.DefaultOptions("").WithInMemory(true).WithLogger(nil))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	sample, err := badgerload.New(db).Poll(context.Background()) // a load.Monitor does this
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sample.Readings[0])
	// Output: level-0 tables 0 of 15
}

func ExampleSized() {
	const target = 512 << 20 // as of a memory.Governor
	options := badgerload.Sized(badger.DefaultOptions("/data"), target)
	fmt.Println(options.MemTableSize>>20, options.BlockCacheSize>>20, options.NumMemtables)
	// Output: 8 32 3
}

func ExampleMapped() {
	db, err := badger.Open(badger.DefaultOptions("").WithInMemory(true).WithLogger(nil))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	patterns, err := badgerload.Mapped(db) // for memory.Config
	fmt.Println(len(patterns), err)
	// Output: 0 <nil>
}

func ExampleOpen() {
	db, err := badgerload.Open(badger.DefaultOptions("").WithInMemory(true).WithLogger(nil))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	fmt.Println(db.IsClosed())
	// Output: false
}

func ExampleSpace() {
	options := badger.DefaultOptions("").WithInMemory(true)
	fmt.Println(badgerload.Space(options)) // before the store is opened, and before each write
	// Output: <nil>
}

func ExampleMarks() {
	db, err := badgerload.Open(badger.DefaultOptions("").WithInMemory(true).WithLogger(nil))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	marks := badgerload.Marks{DB: db, Prefix: "imports/"} // for bulk.Config
	fmt.Println(marks.Mark(context.Background(), "an import"))
	// Output: 0 <nil>
}
