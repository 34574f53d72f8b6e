// Package jobs has the examples that docs/jobs.md links to. It imports their job runners. No other
// package imports it, so no user of the library downloads the job runners.
package jobs
