// Package dbtest starts genuine database servers for tests: PostgreSQL and Neo4j, each on
// a free port, in a temporary folder, started by scripts/databases.
//
// Tests that need a server run when all tests are asked for, as in .ci/run:
//
//	scripts/databases install
//	scripts/all go test ./internal/dbtest
//
// The package is also where the sources that need a server are tested: the database's own client
// libraries are third parties, which users of the library should not need. So are the jobs of
// River, which keeps them in PostgreSQL.
package dbtest
