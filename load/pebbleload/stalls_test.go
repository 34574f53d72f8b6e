package pebbleload

import (
	"testing"
	"time"
)

func TestStallsAreBookedInEachPoll(t *testing.T) {
	start := time.Unix(0, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	s := stalls{asked: start}
	s.begin(at(50))
	if got := s.share(at(100)); got != 0.5 {
		t.Errorf("a stall that lasts for half of the time is %v of it", got)
	}
	if got := s.share(at(200)); got != 1 {
		t.Errorf("a stall that goes on is %v of the time", got)
	}
	s.end(at(225))
	s.begin(at(250))
	s.end(at(275))
	if got := s.share(at(300)); got != 0.5 {
		t.Errorf("two stalls of a quarter each are %v of the time", got)
	}
	if got := s.share(at(300)); got != 0 {
		t.Errorf("no time has passed, and %v of it was a stall", got)
	}
}
