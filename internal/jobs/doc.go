// Package jobs has the examples of docs/jobs.md with the job runners that they are for. Nothing
// else imports it, so no user of the library downloads these.
package jobs
