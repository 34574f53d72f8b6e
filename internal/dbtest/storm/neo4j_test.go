package storm

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/weir-go/weir/internal/dbtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/storm"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/neo4jload"
)

// hotNodes is a graph with a few nodes that all writers write to.
type hotNodes struct{ driver neo4j.DriverWithContext }

const (
	people = 2000
	hot    = 2
)

func newHotNodes(t *testing.T, s *dbtest.Server) hotNodes {
	h := hotNodes{dbtest.OpenNeo4j(t, s, connections)}
	for _, statement := range []string{
		"CREATE CONSTRAINT IF NOT EXISTS FOR (p:Person) REQUIRE p.id IS UNIQUE",
		"UNWIND range(1, $people) AS id CREATE (:Person {id: id, n: 0})",
		"MATCH (p:Person) UNWIND range(1, 5) AS k MATCH (q:Person {id: (p.id * 7 + k * 131) % $people + 1}) CREATE (p)-[:KNOWS]->(q)",
	} {
		must.Do(t, h.run(t.Context(), statement, map[string]any{"people": people}))
	}
	return h
}

// run runs a statement in a transaction of its own.
func (h hotNodes) run(ctx context.Context, statement string, parameters map[string]any) error {
	return dbtest.RunNeo4j(ctx, h.driver, "neo4j", statement, parameters)
}

func (h hotNodes) write(ctx context.Context, _ int) error {
	return h.run(ctx, "MATCH (p:Person {id: $id}) SET p.n = p.n + 1 CREATE (p)-[:WROTE]->(:Event {at: timestamp()})",
		map[string]any{"id": 1 + rand.IntN(hot)})
}

func (h hotNodes) read(ctx context.Context, _ int) error {
	return h.run(ctx, "MATCH (p:Person {id: $id})-[:KNOWS]->()-[:KNOWS]->(q) RETURN count(DISTINCT q)",
		map[string]any{"id": 1 + hot + rand.IntN(people-hot)})
}

// TestNeo4j checks transactions that wait for one node: they hold the connections that
// readers need.
func TestNeo4j(t *testing.T) {
	s := dbtest.Neo4j(t)
	db := newHotNodes(t, s)
	run := func(t *testing.T, guard func(context.Context) storm.Gate) result { return inDatabase(t, db, guard) }
	source := func(t *testing.T) load.Source {
		source := must.Have(neo4jload.New(neo4jload.Config{URI: dbtest.Neo4jURI(s.Address()), Auth: dbtest.Neo4jAdmin()}))(t)
		t.Cleanup(func() { source.Close(context.Background()) })
		return source
	}
	medians := compareOnWaits(t, false, run, source)
	atLeast(t, medians, "writes/s", byDefault, 1.2, unthrottled)
	atLeast(t, medians, "reads/s", byDefault, 6, unthrottled)
	atMost(t, medians, "with wait p99", byDefault, 0.6, unthrottled)
	atMost(t, medians, "read p99", byDefault, 1./3, unthrottled)
}
