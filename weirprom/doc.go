// Package weirprom shows limiters, sets, throttles, pools, capacities and monitors to Prometheus,
// by github.com/prometheus/client_golang.
//
//	reg.MustRegister(weirprom.New(metrics.Sources{
//		Limiters: []*weir.Limiter{lim},
//		Sets:     map[string]*bulkhead.Set{"routes": set},
//	}))
//
// docs/metrics.md has the names, units and labels; package metrics bounds the labels. Histograms,
// for limiters with weir.Config.Histograms, are classic and native at once: a scrape in the
// protobuf format has the native one, with eight buckets that double a duration, and any other
// format the classic one, with one bucket.
//
// [Dashboard] is a dashboard for Grafana and [Alerts] has rules for Prometheus; both are files
// beside this one.
//
// # Names
//
// The name of a source is a constant label, so a registry refuses a second source of one name when
// its collector is registered, and not with each scrape from then on. A program may register any
// number of collectors.
package weirprom
