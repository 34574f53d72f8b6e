package pebbleload_test

import (
	"context"
	"fmt"
	"log"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weir-go/weir/load/pebbleload"
)

func ExampleOpen() {
	db, source, err := pebbleload.Open("", &pebble.Options{FS: vfs.NewMem(), Logger: quiet{}})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	sample, err := source.Poll(context.Background()) // a load.Monitor does this
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sample.Readings[1])
	// Output: level-0 sublevels 0 of 12
}
