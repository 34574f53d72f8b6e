package sqlload_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/sqlload"
)

func loads(t *testing.T, s load.Source) map[string]float64 {
	t.Helper()
	loads := map[string]float64{}
	for _, r := range must.Have(s.Poll(t.Context()))(t).Readings {
		loads[r.Name] = r.Load()
	}
	return loads
}

func ExampleConnPool() {
	db := new(server).open(new(testing.T), 10)
	mon, err := load.New(load.Config{Sources: []load.Source{&sqlload.ConnPool{DB: db, MaxWait: 50 * time.Millisecond}}})
	fmt.Println(mon != nil, err)
	// Output: true <nil>
}

// A wait that outlasts many polls shows while it lasts, and whole when it ends.
func TestPoolThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := new(server).open(t, 1)
		defer db.Close()
		p := &sqlload.ConnPool{DB: db, MaxWait: time.Second}
		if got := loads(t, p); got["wait for a connection"] != 0 || got["connections in use"] != 0 {
			t.Errorf("at rest: %v", got)
		}
		held := must.Have(db.Conn(t.Context()))(t)
		if got := loads(t, p); got["connections in use"] != 0.8 {
			t.Errorf("all in use: %v", got)
		}
		go func() {
			if c, err := db.Conn(t.Context()); err == nil {
				c.Close()
			}
		}()
		for second := range 10 {
			synctest.Wait()
			if got := loads(t, p)["wait for a connection"]; got != float64(second) {
				t.Errorf("%d s of waiting: %v", second, got)
			}
			time.Sleep(time.Second)
		}
		held.Close()
		synctest.Wait()
		if got := loads(t, p)["wait for a connection"]; got != 10 {
			t.Errorf("one waited for 10 s: %v", got)
		}
		if got := loads(t, p)["wait for a connection"]; got != 0 {
			t.Errorf("no connection since: %v", got)
		}
	})
}

// Without settings a wait of 100 ms is the limit, and a pool without a bound has no connections in
// use that count.
func TestPoolWithoutSettings(t *testing.T) {
	p := &sqlload.ConnPool{DB: new(server).open(t, 0)}
	sample := must.Have(p.Poll(t.Context()))(t)
	if len(sample.Readings) != 1 || sample.Readings[0].Limit != 0.1 {
		t.Errorf("%+v, want the wait alone, with a limit of 0.1 s", sample.Readings)
	}
}

// A hundred that began together and end one by one each waited no longer than the pool was full.
func TestPoolWaitOfABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := new(server).open(t, 1)
		defer db.Close()
		p := &sqlload.ConnPool{DB: db, MaxWait: time.Second}
		loads(t, p)
		time.Sleep(time.Hour)
		loads(t, p) // it was free until now
		for range 100 {
			go func() {
				if c, err := db.Conn(t.Context()); err == nil {
					time.Sleep(100 * time.Millisecond)
					c.Close()
				}
			}()
		}
		for second := 1; second <= 9; second++ {
			time.Sleep(time.Second)
			if got := loads(t, p)["wait for a connection"]; got > float64(second) {
				t.Errorf("after %d s of waiting: %v", second, got)
			}
		}
		time.Sleep(10 * time.Second)
	})
}
