package neo4jload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/weir-go/weir/load"
)

// ErrPrivilege matches the error of a source whose user may not see the transactions of others.
var ErrPrivilege = fmt.Errorf("neo4jload: the transactions of other users are hidden: "+
	"GRANT SHOW TRANSACTION (*) ON DATABASE * to a role of the monitor's user: %w", load.ErrDenied)

const (
	showPrivileges = "SHOW USER PRIVILEGES YIELD access, action RETURN access, action"

	// checkedFor is how long a privilege counts as granted. Without the privilege the server shows
	// only the user's own transactions, and does not say so.
	checkedFor = time.Minute

	// unsupported is the answer of the Community edition to showPrivileges. That edition has no
	// privileges: every user sees all transactions.
	unsupported = "Neo.ClientError.Statement.UnsupportedAdministrationCommand"
)

// checkPrivilege asks whether the user may see the transactions of others, unless it was asked
// within the last minute.
func (s *Source) checkPrivilege(ctx context.Context, session neo4j.SessionWithContext) error {
	now := time.Now()
	if now.Sub(s.checked) < checkedFor {
		return nil
	}
	records, err := s.collect(ctx, session, showPrivileges)
	if answer := (*neo4j.Neo4jError)(nil); errors.As(err, &answer) && answer.Code == unsupported {
		s.checked = now
		return nil
	}
	if err != nil {
		return err
	}
	if !mayShow(records) {
		return ErrPrivilege
	}
	s.checked = now
	return nil
}

// mayShow reports whether the privileges let their user see transactions: at least one of them
// grants that, and none denies it.
func mayShow(privileges []*neo4j.Record) bool {
	granted := false
	for _, p := range privileges {
		action, _ := p.Get("action")
		if action != "show_transaction" && action != "transaction_management" {
			continue
		}
		if access, _ := p.Get("access"); access != "GRANTED" {
			return false
		}
		granted = true
	}
	return granted
}

// explain makes the server's errors about authentication and privileges match load.ErrDenied.
func explain(err error) error {
	if answer := (*neo4j.Neo4jError)(nil); errors.As(err, &answer) && answer.HasSecurityCode() {
		return fmt.Errorf("neo4jload: %w: %w", load.ErrDenied, err)
	}
	return fmt.Errorf("neo4jload: %w", err)
}
