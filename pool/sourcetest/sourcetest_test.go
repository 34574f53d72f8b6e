package sourcetest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/sourcetest"
)

func TestSources(t *testing.T) {
	for name, c := range map[string]sourcetest.Config{
		"slice": {Open: func(_ *testing.T, tasks []pool.Task) pool.Source { return pool.Slice(tasks) }},
		"seq":   {Open: func(_ *testing.T, tasks []pool.Task) pool.Source { return pool.Seq(slices.Values(tasks)) }},
		"channel": {Open: func(_ *testing.T, tasks []pool.Task) pool.Source {
			c := make(chan pool.Task, len(tasks))
			for _, task := range tasks {
				c <- task
			}
			close(c)
			return pool.Chan(c)
		}},
		"memory": {Leased: true, Patience: time.Second, Open: func(_ *testing.T, tasks []pool.Task) pool.Source {
			return sourcetest.NewMemory(100*time.Millisecond, tasks)
		}},
	} {
		t.Run(name, func(t *testing.T) { sourcetest.Run(t, c) })
	}
}
