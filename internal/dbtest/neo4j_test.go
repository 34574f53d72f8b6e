package dbtest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/auth"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/neo4jload"
)

// TestNeo4j is one test with parts, because a server takes seconds to start.
func TestNeo4j(t *testing.T) {
	t.Parallel()
	s := Neo4j(t)
	t.Run("an idle server has no transactions and no connections but the monitor's", func(t *testing.T) { neo4jIdle(t, s) })
	t.Run("running and blocked transactions are counted apart, and one with its lock waits no longer", func(t *testing.T) { neo4jBlocked(t, s) })
	t.Run("a wrong password does not lock the application out", func(t *testing.T) { neo4jWrongPassword(t, s) })
	t.Run("a user that is dropped, and its connection with it", func(t *testing.T) { neo4jDropped(t, s) })
	t.Run("a server that hangs and restarts", func(t *testing.T) { outlives(t, s, neo4jSource(t, s, Neo4jAdmin())) })
}

func neo4jSource(t *testing.T, s *Server, who auth.TokenManager) *neo4jload.Source {
	t.Helper()
	source := must.Have(neo4jload.New(neo4jload.Config{URI: Neo4jURI(s.Address()), Auth: who}))(t)
	t.Cleanup(func() { source.Close(context.Background()) })
	return source
}

func neo4jIdle(t *testing.T, s *Server) {
	source, other := neo4jSource(t, s, Neo4jAdmin()), neo4jSource(t, s, Neo4jAdmin())
	until(t, source, "nothing but the monitor", func(v map[string]float64) bool { return v["running"] == 0 && v["connections"] == 0 })
	// Another monitor counts like any other client: a source excludes only itself.
	values(t, other)
	until(t, source, "the other's connection", func(v map[string]float64) bool { return v["connections"] == 1 })
	// The server's own answer includes the monitor.
	all := neo4jAsk(t, OpenNeo4j(t, s, 1), "CALL dbms.listConnections() YIELD userAgent RETURN collect(userAgent)").([]any)
	monitors := 0
	for _, agent := range all {
		if strings.HasPrefix(agent.(string), "weir-neo4jload/") {
			monitors++
		}
	}
	if monitors != 2 {
		t.Errorf("the server knows of %v: want two monitors", all)
	}
}

// neo4jAsk runs a query outside of an explicit transaction and returns its one value.
func neo4jAsk(t *testing.T, driver neo4j.DriverWithContext, query string) any {
	t.Helper()
	session := driver.NewSession(t.Context(), neo4j.SessionConfig{})
	defer session.Close(t.Context())
	result := must.Have(session.Run(t.Context(), query, nil))(t)
	record := must.Have(result.Single(t.Context()))(t)
	return record.Values[0]
}

// neo4jBegin starts a transaction that stays open until it is closed.
func neo4jBegin(t *testing.T, driver neo4j.DriverWithContext) neo4j.ExplicitTransaction {
	t.Helper()
	session := driver.NewSession(t.Context(), neo4j.SessionConfig{})
	return must.Have(session.BeginTransaction(t.Context()))(t)
}

// neo4jBlocked counts transactions that wait for a lock. One that gets it waits no longer, however
// long it continues.
func neo4jBlocked(t *testing.T, s *Server) {
	source, driver := neo4jSource(t, s, Neo4jAdmin()), OpenNeo4j(t, s, 10)
	neo4jAsk(t, driver, "CREATE (h:Hot {n: 0}) RETURN h.n")
	const update = "MATCH (h:Hot) SET h.n = h.n + 1"
	const waiting = 3
	var open []neo4j.ExplicitTransaction // the first has the lock
	ended := make(chan int, 1+waiting)
	for i := range 1 + waiting {
		tx := neo4jBegin(t, driver)
		open = append(open, tx)
		go func() {
			if result, err := tx.Run(context.Background(), update, nil); err != nil {
				t.Error(err)
			} else if _, err := result.Consume(context.Background()); err != nil {
				t.Error(err)
			}
			ended <- i
		}()
		if i == 0 {
			ended <- <-ended // before the others ask for it
		}
	}
	until(t, source, "1 running, 3 blocked", func(v map[string]float64) bool {
		return v["running"] == 1 && v["blocked"] == waiting && v["longest wait"] > 0 && v["oldest"] >= v["longest wait"] && v["connections"] >= 1+waiting
	})
	for left := waiting; left >= 0; left-- {
		must.Do(t, open[<-ended].Close(t.Context()))
		until(t, source, "one less", func(v map[string]float64) bool {
			return v["running"] == min(1, float64(left)) && v["blocked"] == max(0, float64(left-1))
		})
		if wait := values(t, source)["longest wait"]; left == 1 && wait != 0 {
			t.Errorf("the longest wait is %v s, of a transaction that waits for nothing", wait)
		}
	}
}

// neo4jWrongPassword gives the source the application's user with a wrong password.
func neo4jWrongPassword(t *testing.T, s *Server) {
	m := watch(t, neo4jSource(t, s, neo4j.BasicAuth(neo4jUser, "wrong", "")))
	m.until(t, "denied", func(load.Level) bool { return errors.Is(m.Snapshot()[0].Err, load.ErrDenied) })
	<-time.After(2 * time.Second) // time in which a monitor without a pause would ask 6 times
	if err := runNeo4j(t.Context(), s.Address(), neo4jPassword, "SHOW DATABASES"); err != nil {
		t.Fatalf("the application is locked out: %v", err)
	}
}

func neo4jDropped(t *testing.T, s *Server) {
	admin := OpenNeo4j(t, s, 1)
	const name, password = "monitor", "monitor-password"
	system := func(statement string) {
		t.Helper()
		must.Do(t, RunNeo4j(t.Context(), admin, "system", statement, nil))
	}
	system("CREATE USER " + name + " SET PASSWORD '" + password + "' CHANGE NOT REQUIRED")
	source := neo4jSource(t, s, neo4j.BasicAuth(name, password, ""))
	m := watch(t, source)
	m.answers(t)
	system("DROP USER " + name)
	// A connection survives the removal of its user.
	neo4jAsk(t, admin, "CALL dbms.listConnections() YIELD connectionId, username WHERE username = '"+name+"' "+
		"CALL dbms.killConnection(connectionId) YIELD message RETURN count(message)")
	if err := m.goesStale(t); !errors.Is(err, load.ErrDenied) {
		t.Errorf("it is stale because of %v, want one that has the monitor leave the server alone", err)
	}
	system("CREATE USER " + name + " SET PASSWORD '" + password + "' CHANGE NOT REQUIRED")
	values(t, source) // the monitor leaves it alone for half a minute: load.TestDeniedSourceIsLeftAlone
}
