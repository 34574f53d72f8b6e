package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/fleet/natsfleet"
	"github.com/weir-go/weir/fleet/pgfleet"
	"github.com/weir-go/weir/internal/handover"
)

// A config says where the entries of a fleet are.
type config handover.Fleet

// An opener connects to a store if need be, and makes its table or bucket if that is gone.
type opener func(context.Context) (fleet.Store, error)

func (c config) opener() (opener, error) {
	scheme, _, _ := strings.Cut(c.Store, "://")
	switch scheme {
	case "nats", "tls":
		return c.nats(), nil
	case "postgres", "postgresql":
		return c.postgres()
	}
	return nil, fmt.Errorf("fleet.store is %q: want nats://host:4222 or postgres://user@host/database", c.Store)
}

// connections bounds the connections of a store in PostgreSQL: three writes and three watches.
const connections = 6

func (c config) postgres() (opener, error) {
	settings, err := pgx.ParseConfig(c.Store)
	if err != nil {
		return nil, fmt.Errorf("fleet.store: %w", err) // without the password, if there is one
	}
	db := stdlib.OpenDB(*settings, stdlib.OptionBeforeConnect(func(_ context.Context, settings *pgx.ConnConfig) error {
		secret, err := c.secret()
		settings.Password = cmp.Or(secret, settings.Password)
		return err
	}))
	db.SetMaxOpenConns(connections)
	return func(ctx context.Context) (fleet.Store, error) {
		return pgfleet.New(ctx, db, pgfleet.Config{Fleet: c.Name, Refresh: c.Refresh})
	}, nil
}

// nats returns an opener that connects at its first call. Later the client of NATS reconnects by
// itself, and reads the files again.
func (c config) nats() opener {
	var conn *nats.Conn // of one goroutine: link.keep
	return func(ctx context.Context) (fleet.Store, error) {
		if conn == nil || conn.IsClosed() {
			made, err := c.connect()
			if err != nil {
				return nil, fmt.Errorf("cannot connect to %s: %w", c.Store, err)
			}
			conn = made
		}
		if !conn.IsConnected() {
			return nil, fmt.Errorf("no connection to %s: %w", c.Store, cmp.Or(conn.LastError(), errSilent))
		}
		js, err := jetstream.New(conn)
		if err != nil {
			return nil, err
		}
		return natsfleet.New(ctx, js, natsfleet.Config{Fleet: c.Name, Replicas: c.Replicas})
	}
}

// errSilent is the error without a connection, if the client knows no other cause.
var errSilent = errors.New("the server does not answer")

func (c config) connect() (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name("weir-fleet " + c.Name), nats.MaxReconnects(-1), nats.ReconnectWait(pause), nats.IgnoreAuthErrorAbort(),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // calls have the error
		nats.Timeout(openTimeout), nats.PingInterval(2 * time.Second), nats.MaxPingsOutstanding(2),
	}
	if strings.HasPrefix(c.Store, "tls://") || c.CA != "" || c.Certificate != "" {
		options = append(options, nats.Secure(&tls.Config{ServerName: c.ServerName, MinVersion: tls.VersionTLS12}))
	}
	if c.CA != "" {
		options = append(options, nats.RootCAs(c.CA))
	}
	if c.Certificate != "" {
		options = append(options, nats.ClientCert(c.Certificate, c.Key))
	}
	secret, err := c.secret()
	if err != nil {
		return nil, err
	}
	servers := c.Store
	if secret != "" {
		var user string
		if user, servers, err = splitUser(c.Store); err != nil {
			return nil, err
		}
		options = append(options, c.identity(secret, user))
	}
	return nats.Connect(servers, options...)
}

// splitUser returns the user that the URLs of servers name, and the URLs without a user. The client
// would prefer a user in a URL to all other credentials, and take it for a token.
func splitUser(store string) (user, servers string, err error) {
	var plain []string
	for server := range strings.SplitSeq(store, ",") {
		u, err := url.Parse(server)
		if err != nil {
			return "", "", err
		}
		user = cmp.Or(user, u.User.Username())
		u.User = nil
		plain = append(plain, u.String())
	}
	return user, strings.Join(plain, ","), nil
}

// identity returns the option by which a client identifies itself: the credentials of NATS, a
// password if there is a user, or else a token. A file that cannot be read later counts as an empty
// password.
func (c config) identity(secret, user string) nats.Option {
	latest := func() string { text, _ := c.secret(); return text }
	switch {
	case strings.Contains(secret, "BEGIN NATS USER JWT"):
		return nats.UserCredentials(c.Credentials)
	case user != "":
		return nats.UserInfoHandler(func() (string, string) { return user, latest() })
	}
	return nats.TokenHandler(latest)
}

// secret reads the file of credentials.
func (c config) secret() (string, error) {
	if c.Credentials == "" {
		return "", nil
	}
	text, err := os.ReadFile(c.Credentials)
	if err != nil {
		return "", fmt.Errorf("fleet.credentials: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}
