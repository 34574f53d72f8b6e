// Package sqlload measures the load behind database/sql: of any pool, from its own statistics, and
// of a PostgreSQL server, from the waits of its sessions. It needs no driver of its own.
//
//	monitor, err := sql.Open("pgx", dsn) // a pool that nothing else uses
//	...
//	load.Config{Sources: []load.Source{
//		&sqlload.ConnPool{DB: db},
//		&sqlload.Postgres{DB: monitor},
//	}}
//
// # Sources
//
//   - PostgreSQL documentation, "The Cumulative Statistics System": pg_stat_activity,
//     wait events, the role pg_monitor.
package sqlload
