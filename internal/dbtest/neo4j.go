package dbtest

import (
	"context"
	"testing"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/config"

	"github.com/weir-go/weir/internal/must"
)

// These are the administrator of the Neo4j server, and the initial password of Neo4j, which a
// client has to change before any other statement.
const (
	neo4jUser     = "neo4j"
	neo4jFirst    = "neo4j"
	neo4jPassword = "weir-dbtest"
)

// Neo4j starts Neo4j for a test.
func Neo4j(t testing.TB) *Server {
	t.Helper()
	changed := false // Neo4j locks out clients that repeat a wrong password
	return start(t, "neo4j", func(ctx context.Context, address string) error {
		if !changed {
			err := runNeo4j(ctx, address, neo4jFirst,
				"ALTER CURRENT USER SET PASSWORD FROM '"+neo4jFirst+"' TO '"+neo4jPassword+"'")
			if err != nil {
				return err
			}
			changed = true
		}
		return runNeo4j(ctx, address, neo4jPassword, "SHOW DATABASES")
	})
}

func runNeo4j(ctx context.Context, address, password, statement string) error {
	driver, err := neo4j.NewDriverWithContext(Neo4jURI(address), neo4j.BasicAuth(neo4jUser, password, ""))
	if err != nil {
		return err
	}
	defer driver.Close(ctx)
	return RunNeo4j(ctx, driver, "system", statement, nil)
}

// RunNeo4j runs a statement in a transaction of its own.
func RunNeo4j(ctx context.Context, driver neo4j.DriverWithContext, database, statement string, parameters map[string]any) error {
	session := driver.NewSession(ctx, neo4j.SessionConfig{DatabaseName: database})
	defer session.Close(ctx)
	result, err := session.Run(ctx, statement, parameters)
	if err != nil {
		return err
	}
	_, err = result.Consume(ctx)
	return err
}

// Neo4jURI returns the URI of a server.
func Neo4jURI(address string) string { return "bolt://" + address }

// Neo4jAdmin returns the credentials of the administrator.
func Neo4jAdmin() neo4j.AuthToken { return neo4j.BasicAuth(neo4jUser, neo4jPassword, "") }

// OpenNeo4j opens a driver with up to the given number of connections, for the duration of
// the test.
func OpenNeo4j(t testing.TB, s *Server, connections int) neo4j.DriverWithContext {
	t.Helper()
	driver := must.Have(neo4j.NewDriverWithContext(Neo4jURI(s.Address()), Neo4jAdmin(), func(c *config.Config) {
		c.MaxConnectionPoolSize = connections
	}))(t)
	t.Cleanup(func() { driver.Close(context.Background()) })
	return driver
}
