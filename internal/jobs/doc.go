// Package jobs has the examples that docs/jobs.md links to, with the job runners that they are for.
// Nothing else imports it, so no user of the library downloads these.
package jobs
