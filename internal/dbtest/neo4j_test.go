package dbtest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/auth"

	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/neo4jload"
)

// TestNeo4j is one test with parts, because a server takes seconds to start.
func TestNeo4j(t *testing.T) {
	s := Neo4j(t)
	t.Run("an idle server has no transactions and no connections but the monitor's", func(t *testing.T) { neo4jIdle(t, s) })
	t.Run("running and blocked transactions are counted apart", func(t *testing.T) { neo4jBlocked(t, s) })
	t.Run("a transaction that has its lock waits no longer", func(t *testing.T) { neo4jWaited(t, s) })
	t.Run("a wrong password does not lock the application out", func(t *testing.T) { neo4jWrongPassword(t, s) })
	t.Run("a user that is dropped, and its connection with it", func(t *testing.T) { neo4jDropped(t, s) })
	t.Run("a server that hangs", func(t *testing.T) { neo4jHangs(t, s) })
	t.Run("a server that restarts", func(t *testing.T) { neo4jRestarts(t, s) })
}

func neo4jSource(t *testing.T, s *Server, who auth.TokenManager) *neo4jload.Source {
	t.Helper()
	source, err := neo4jload.New(neo4jload.Config{URI: Neo4jURI(s.Address()), Auth: who})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { source.Close(context.Background()) })
	return source
}

// values polls and returns the readings by name.
func values(t *testing.T, source load.Source) map[string]float64 {
	t.Helper()
	sample, err := source.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, r := range sample.Readings {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		values[r.Name] = r.Value
	}
	return values
}

// until polls until the readings satisfy ok.
func until(t *testing.T, source load.Source, what string, ok func(map[string]float64) bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		have := values(t, source)
		if ok(have) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("want %s, still have %v", what, have)
		}
	}
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
	result, err := session.Run(t.Context(), query, nil)
	if err != nil {
		t.Fatal(err)
	}
	record, err := result.Single(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return record.Values[0]
}

// neo4jBegin starts a transaction that stays open until it is closed.
func neo4jBegin(t *testing.T, driver neo4j.DriverWithContext) neo4j.ExplicitTransaction {
	t.Helper()
	session := driver.NewSession(t.Context(), neo4j.SessionConfig{})
	tx, err := session.BeginTransaction(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

func neo4jBlocked(t *testing.T, s *Server) {
	source, driver := neo4jSource(t, s, Neo4jAdmin()), OpenNeo4j(t, s, 10)
	neo4jAsk(t, driver, "CREATE (h:Hot {n: 0}) RETURN h.n")

	const update = "MATCH (h:Hot) SET h.n = h.n + 1"
	holder := neo4jBegin(t, driver)
	if _, err := holder.Run(t.Context(), update, nil); err != nil {
		t.Fatal(err)
	}
	const waiting = 3
	ended := make(chan error)
	for range waiting {
		tx := neo4jBegin(t, driver)
		go func() {
			result, err := tx.Run(context.Background(), update, nil)
			if err == nil {
				_, err = result.Consume(context.Background())
			}
			tx.Close(context.Background())
			ended <- err
		}()
	}
	until(t, source, "1 running, 3 blocked", func(v map[string]float64) bool {
		return v["running"] == 1 && v["blocked"] == waiting && v["longest wait"] > 0 && v["oldest"] >= v["longest wait"] && v["connections"] >= 1+waiting
	})
	if err := holder.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range waiting {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	until(t, source, "none", func(v map[string]float64) bool { return v["running"] == 0 && v["blocked"] == 0 })
}

// neo4jWaited checks that the wait for a lock is over when the transaction has the lock,
// however long the transaction continues.
func neo4jWaited(t *testing.T, s *Server) {
	source, driver := neo4jSource(t, s, Neo4jAdmin()), OpenNeo4j(t, s, 10)
	neo4jAsk(t, driver, "CREATE (h:Waited {n: 0}) RETURN h.n")
	const update = "MATCH (h:Waited) SET h.n = h.n + 1"
	holder, next := neo4jBegin(t, driver), neo4jBegin(t, driver)
	defer next.Close(t.Context())
	if _, err := holder.Run(t.Context(), update, nil); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		result, err := next.Run(context.Background(), update, nil)
		if err == nil {
			_, err = result.Consume(context.Background())
		}
		ended <- err
	}()
	until(t, source, "one that waits", func(v map[string]float64) bool { return v["blocked"] == 1 && v["longest wait"] > 0 })
	if err := holder.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	until(t, source, "one that runs", func(v map[string]float64) bool { return v["running"] == 1 && v["blocked"] == 0 })
	if wait := values(t, source)["longest wait"]; wait != 0 {
		t.Errorf("the longest wait is %v s, of a transaction that waits for nothing", wait)
	}
}

// neo4jWrongPassword gives the source the application's user with a wrong password.
func neo4jWrongPassword(t *testing.T, s *Server) {
	m := watch(t, neo4jSource(t, s, neo4j.BasicAuth(neo4jUser, "wrong", "")))
	m.until(t, "denied", func(load.Level) bool { return errors.Is(m.Snapshot()[0].Err, load.ErrDenied) })
	<-time.After(2 * time.Second) // time in which a monitor without a pause would ask 20 times
	if err := runNeo4j(t.Context(), s.Address(), neo4jPassword, "SHOW DATABASES"); err != nil {
		t.Fatalf("the application is locked out: %v", err)
	}
}

func neo4jDropped(t *testing.T, s *Server) {
	admin := OpenNeo4j(t, s, 1)
	const name, password = "monitor", "monitor-password"
	neo4jSystem(t, admin, "CREATE USER "+name+" SET PASSWORD '"+password+"' CHANGE NOT REQUIRED")
	source := neo4jSource(t, s, neo4j.BasicAuth(name, password, ""))
	m := watch(t, source)
	m.answers(t)
	neo4jSystem(t, admin, "DROP USER "+name)
	// A connection survives the removal of its user.
	neo4jAsk(t, admin, "CALL dbms.listConnections() YIELD connectionId, username WHERE username = '"+name+"' "+
		"CALL dbms.killConnection(connectionId) YIELD message RETURN count(message)")
	if err := m.goesStale(t); !errors.Is(err, load.ErrDenied) {
		t.Errorf("it is stale because of %v, want one that has the monitor leave the server alone", err)
	}
	neo4jSystem(t, admin, "CREATE USER "+name+" SET PASSWORD '"+password+"' CHANGE NOT REQUIRED")
	values(t, source) // the monitor leaves it alone for half a minute: load.TestDeniedSourceIsLeftAlone
}

func neo4jSystem(t *testing.T, driver neo4j.DriverWithContext, statement string) {
	t.Helper()
	session := driver.NewSession(t.Context(), neo4j.SessionConfig{DatabaseName: "system"})
	defer session.Close(t.Context())
	result, err := session.Run(t.Context(), statement, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := result.Consume(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func neo4jHangs(t *testing.T, s *Server) {
	m := watch(t, neo4jSource(t, s, Neo4jAdmin()))
	m.answers(t)
	s.Freeze(t)
	m.goesStale(t)
	s.Thaw(t)
	m.answers(t)
}

func neo4jRestarts(t *testing.T, s *Server) {
	m := watch(t, neo4jSource(t, s, Neo4jAdmin()))
	m.answers(t)
	s.Kill(t)
	m.goesStale(t)
	s.Restart(t)
	m.answers(t)
}
