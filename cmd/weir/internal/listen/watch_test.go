package listen

import (
	"testing"
	"testing/synctest"
	"time"
)

// counting is an operation that moves until a given time.
type counting struct {
	moves       time.Time
	looks, cuts int
}

func (c *counting) moved() bool {
	c.looks++
	return time.Now().Before(c.moves)
}

func (c *counting) cut() { c.cuts++ }

func TestWatch(t *testing.T) {
	const stall = 8 * time.Second
	for _, test := range []struct {
		name        string
		moves, ends time.Duration // after the beginning
		cut         bool
	}{
		{"ends in time", 0, 7 * time.Second, false},
		{"stalls from the start", 0, 9 * time.Second, true},
		{"moves, then ends", 60 * time.Second, 61 * time.Second, false},
		{"moves, then stalls", 60 * time.Second, 71 * time.Second, true},
		{"moves, then ends within a stall", 60 * time.Second, 65 * time.Second, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w watch
				of := &counting{moves: time.Now().Add(test.moves)}
				w.begin(stall, of)
				time.Sleep(test.ends)
				w.end()
				time.Sleep(time.Hour)
				if cut := of.cuts == 1; cut != test.cut || of.cuts > 1 {
					t.Errorf("cut %d times, want %v", of.cuts, test.cut)
				}
				w.close()
			})
		})
	}
}

// One operation begins when another ends, and the timer keeps running.
func TestWatchTellsOperationsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w watch
		of := new(counting)
		for range 100 {
			w.begin(8*time.Second, of)
			time.Sleep(7 * time.Second)
			w.end()
		}
		if of.cuts != 0 {
			t.Fatal("cut, though each ended in time")
		}
		w.begin(0, of)
		time.Sleep(time.Minute)
		w.end()
		if of.cuts != 0 {
			t.Fatal("cut, though 0 is any time")
		}
		w.begin(8*time.Second, of)
		time.Sleep(5 * time.Second)
		if !w.waiting() {
			t.Error("not waiting after five seconds")
		}
		w.close()
		w.begin(8*time.Second, of)
		time.Sleep(time.Minute)
		if of.cuts != 0 || w.waiting() {
			t.Errorf("cut %d times after close", of.cuts)
		}
	})
}

// A client that is nearly late may be unable to send for long.
func TestShortWatchPausesBetweenChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w watch
		of := &counting{moves: time.Now().Add(time.Second)}
		w.begin(time.Millisecond, of)
		time.Sleep(2 * time.Second)
		w.close()
		if of.looks > 110 || of.cuts != 1 {
			t.Errorf("%d checks and %d cuts, want about 100 and 1", of.looks, of.cuts)
		}
	})
}
