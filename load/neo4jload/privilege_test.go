package neo4jload

import (
	"errors"
	"testing"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/weir-go/weir/load"
)

// The Enterprise edition alone has privileges; the tests with a server have the Community edition.
func TestMayShow(t *testing.T) {
	row := func(access, action string) *neo4j.Record {
		return &neo4j.Record{Keys: []string{"access", "action"}, Values: []any{access, action}}
	}
	for name, c := range map[string]struct {
		rows []*neo4j.Record
		want bool
	}{
		"none":         {nil, false},
		"reader":       {[]*neo4j.Record{row("GRANTED", "access"), row("GRANTED", "match")}, false},
		"show":         {[]*neo4j.Record{row("GRANTED", "access"), row("GRANTED", "show_transaction")}, true},
		"manage":       {[]*neo4j.Record{row("GRANTED", "transaction_management")}, true},
		"denied":       {[]*neo4j.Record{row("DENIED", "show_transaction")}, false},
		"also denied":  {[]*neo4j.Record{row("GRANTED", "transaction_management"), row("DENIED", "show_transaction")}, false},
		"other denied": {[]*neo4j.Record{row("GRANTED", "show_transaction"), row("DENIED", "terminate_transaction")}, true},
	} {
		if got := mayShow(c.rows); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !errors.Is(ErrPrivilege, load.ErrDenied) {
		t.Error("a missing privilege is not denied")
	}
}

func TestExplain(t *testing.T) {
	for code, denied := range map[string]bool{
		"Neo.ClientError.Security.Unauthorized":            true,
		"Neo.ClientError.Security.AuthenticationRateLimit": true,
		"Neo.ClientError.Security.Forbidden":               true,
		"Neo.TransientError.General.DatabaseUnavailable":   false,
	} {
		if err := explain(&neo4j.Neo4jError{Code: code}); errors.Is(err, load.ErrDenied) != denied {
			t.Errorf("%v: denied is not %v", err, denied)
		}
	}
}
