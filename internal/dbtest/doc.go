// Package dbtest starts genuine database servers for tests: PostgreSQL and Neo4j, each on
// a free port, in a temporary folder, started by scripts/databases.
//
// A test that needs a server which is not installed is skipped, and says what to do. Where
// WEIR_DATABASES is "required", as in .ci/run, it fails instead.
//
// The package is also where the sources that need a server are tested: the database's own
// client libraries are third parties, and nobody who uses the library should need them.
package dbtest
