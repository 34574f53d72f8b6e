package promcheck

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/metrics"
	"github.com/weir-go/weir/weirprom"
)

// TestProxyAlerts: each alert of deploy/alerts.yaml is silent while a proxy is well and fires when
// its upstream is in trouble.
func TestProxyAlerts(t *testing.T) {
	text := must.Have(os.ReadFile("../../deploy/alerts.yaml"))(t)
	r := recordProxy(t)
	for _, rule := range rules(t, string(text)) {
		t.Run(rule.Alert, func(t *testing.T) { r.tryAlert(t, rule) })
	}
}

// recordProxy records the limiters of a proxy: well for one phase, then before an upstream
// that takes a hundred times as long, fails half of the requests and never answers one, while
// streams fill their cap.
func recordProxy(t *testing.T) recording {
	return recorded(t, func(ctx context.Context, t *testing.T, r *recording) {
		band := law.Band{Target: 100 * time.Millisecond}
		limited := weir.Config{Min: 2, Max: 50, Law: band, MinSamples: 2, Queue: weir.Queue{Size: 20, Timeout: time.Second}}
		shadow := weir.Config{Min: 2, Max: 50, Law: band, MinSamples: 2, Shadow: true}
		set := must.Have(bulkhead.New(bulkhead.Config{ByKey: map[string]bulkhead.Compartment{"api": {Config: limited}, "trial": {Config: shadow}}}))(t)
		streams := must.Have(weir.New(weir.Config{Name: "streams", Law: law.Fixed{}, Initial: 10, Max: 10}))(t)
		var sick atomic.Bool
		var failed atomic.Int64
		ask := func(ctx context.Context) error {
			err := work(ctx, sick.Load())
			if sick.Load() && failed.Add(1)%2 == 0 {
				return errors.New("502")
			}
			return err
		}
		for range 20 {
			go repeat(ctx, func() { _ = set.Do(ctx, "api", ask) })
			go repeat(ctx, func() { _ = set.Do(ctx, "trial", ask) })
		}
		reg := prometheus.NewPedanticRegistry()
		reg.MustRegister(weirprom.New(metrics.Sources{Limiters: []*weir.Limiter{streams}, Sets: map[string]*bulkhead.Set{"proxy": set}}))
		own := newOwn(reg)
		scrape := func() time.Time { return r.scrapePhase(t, reg, false, func() { own.count(sick.Load()) }) }
		r.sick = scrape()
		sick.Store(true)
		stuck := must.Have(set.Acquire(ctx, "trial"))(t) // in shadow mode, so there is always room
		for range 10 {
			must.Have(streams.Acquire(ctx))(t)
		}
		r.gone = scrape()
		stuck.Done(nil)
	})
}
