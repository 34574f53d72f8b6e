package weirprom

import _ "embed" // for the files

// Dashboard is dashboard.json, for Grafana to import.
//
//go:embed dashboard.json
var Dashboard string

// Alerts is alerts.yaml, a file of rules for Prometheus.
//
//go:embed alerts.yaml
var Alerts string
