package sourcetest_test

import (
	"testing"

	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/sourcetest"
)

// A test of a source of your own calls Run with a way to open one.
func ExampleRun() { //nolint:testableexamples // it needs a test to run in
	test := func(t *testing.T) {
		sourcetest.Run(t, sourcetest.Config{
			Open: func(_ *testing.T, tasks []pool.Task) pool.Source { return pool.Slice(tasks) },
		})
	}
	_ = test // named TestMySource, in a file of tests
}
