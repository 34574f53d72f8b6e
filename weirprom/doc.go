// Package weirprom shows the sources of package metrics, such as limiters and sets, to Prometheus,
// by github.com/prometheus/client_golang.
//
//	reg.MustRegister(weirprom.New(metrics.Sources{
//		Limiters: []*weir.Limiter{lim},
//		Sets:     map[string]*bulkhead.Set{"routes": set},
//	}))
//
// docs/metrics.md has the names, units and labels; package metrics bounds the labels. Histograms,
// for limiters with weir.Config.Histograms, are classic and native at once: a scrape in the
// protobuf format has the native histogram, with eight buckets from a duration to its double, and
// any other format has the classic histogram, with one bucket.
//
// [Dashboard] is a dashboard for Grafana and [Alerts] has rules for Prometheus; both are files
// beside this one.
//
// # Names
//
// The name of a source is a constant label. So a registry refuses a second source of the same name
// when its collector is registered, and not at each scrape from then on. A program may register any
// number of collectors.
package weirprom
