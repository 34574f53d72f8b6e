package promcheck

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/prometheus/model/rulefmt"
)

const (
	interval = 15 * time.Second
	phase    = 30 * time.Minute
)

// A recording is a shop that was well for one phase, then in trouble for two, and in the second of these heard nothing of
// its store. Work that hangs is apart: it would keep the limit from being measured.
type recording struct {
	*database
	start, sick, gone, end time.Time
}

func record(t *testing.T, native bool) recording {
	r := recording{database: newDatabase()}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		s := open(ctx, t)
		reg := s.registry()
		scrape := func() time.Time {
			for range phase / interval {
				time.Sleep(interval)
				r.scrape(t, reg, native)
			}
			return time.Now()
		}
		r.start = time.Now()
		r.sick = scrape()
		s.sick.Store(true)
		r.gone = scrape()
		s.gone.Store(true)
		hung, _ := s.sources.Limiters[1].Acquire(ctx) // in shadow mode, so there is room
		r.end = scrape()
		hung.Done(nil)
		stop()
		synctest.Wait()
	})
	return r
}

// fires reports whether the alert is due at some moment of a span: its expression held for as long as it asks for.
func (r recording) fires(t *testing.T, rule rulefmt.Rule, from, to time.Time) bool {
	t.Helper()
	since := map[string]time.Time{}
	for at := from; !at.After(to); at = at.Add(interval) {
		now := map[string]time.Time{}
		for _, s := range r.query(t, rule.Expr, at) {
			key := s.Metric.String()
			now[key] = at
			if before, ok := since[key]; ok {
				now[key] = before
			}
			if at.Sub(now[key]) >= time.Duration(rule.For) {
				return true
			}
		}
		since = now
	}
	return false
}

// Each alert is silent while all is well and fires in trouble, whether the server scrapes native histograms or classic ones.
func TestAlerts(t *testing.T) {
	for _, native := range []bool{true, false} {
		t.Run(fmt.Sprintf("native=%v", native), func(t *testing.T) {
			r := record(t, native)
			for _, rule := range rules(t) {
				const settled = 10 * time.Minute // the law has found the limit
				if r.fires(t, rule, r.start.Add(settled), r.sick) {
					t.Errorf("%s fires while all is well", rule.Alert)
				}
				inTrouble := r.fires(t, rule, r.sick.Add(interval), r.gone)
				later := []string{"WeirMonitorStale", "WeirWorkStuck"} // what happens in the last phase
				if want := !slices.Contains(later, rule.Alert); inTrouble != want {
					t.Errorf("%s fires in trouble: %v: want %v", rule.Alert, inTrouble, want)
				}
				if slices.Contains(later, rule.Alert) && !r.fires(t, rule, r.gone.Add(interval), r.end) {
					t.Errorf("%s does not fire when work hangs and the store does not answer", rule.Alert)
				}
			}
		})
	}
}

// Each panel shows something at some moment.
func TestPanelsShowSomething(t *testing.T) {
	r := record(t, true)
	for title, exprs := range panels(t) {
		for _, expr := range exprs {
			shown := 0
			for at := r.start.Add(phase / 2); at.Before(r.end); at = at.Add(phase / 4) {
				shown += len(r.query(t, expr, at))
			}
			if shown == 0 {
				t.Errorf("panel %q shows nothing of %s", title, expr)
			}
		}
	}
}
