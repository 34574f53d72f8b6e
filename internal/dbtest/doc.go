// Package dbtest starts real database servers for tests: PostgreSQL and Neo4j, each on a
// free port, in a temporary folder, started by scripts/databases.
//
// Tests that need a server run with the long tests, as in .ci/run:
//
//	scripts/databases install
//	scripts/all go test ./internal/dbtest
//
// The package also tests the sources that need a server: they use the databases' own client
// libraries, which users of the library should not need. It also tests the jobs of River,
// which keeps them in PostgreSQL.
package dbtest
