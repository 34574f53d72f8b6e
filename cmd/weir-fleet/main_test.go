package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/fleet/storetest"
	"github.com/weir-go/weir/internal/certstest"
	"github.com/weir-go/weir/internal/handover"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/pipe"
)

// open runs the companion in this process until the test ends.
func open(t *testing.T, f handover.Fleet) *pipe.Store {
	t.Helper()
	requests, asks := io.Pipe()
	answers, answering := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(asked(t, f), requests, answering); answering.Close() }()
	store := pipe.New(answers, asks)
	go func() { _ = store.Run() }()
	t.Cleanup(func() {
		asks.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return store
}

func asked(t *testing.T, f handover.Fleet) string {
	t.Helper()
	f.Replicas = 1
	variable := must.Have(handover.Request{Fleet: &f}.Encode())(t)
	return strings.TrimPrefix(variable, handover.Variable+"=")
}

func TestStoreInNATS(t *testing.T) {
	address, _ := serveNATS(t, server.Options{Port: -1, Authorization: token})
	credentials := fileOf(t, "token", token)
	var n atomic.Int32
	storetest.Test(t, func(t *testing.T) fleet.Store {
		return open(t, handover.Fleet{Name: fmt.Sprintf("test-%d", n.Add(1)), Store: "nats://" + address, Credentials: credentials})
	})
}

// Calls say why there is no store, and work once the cause is gone.
func TestWrongCredentials(t *testing.T) {
	address, _ := serveNATS(t, server.Options{Port: -1, Authorization: token})
	credentials := fileOf(t, "token", "wrong")
	s := open(t, handover.Fleet{Name: "shop", Store: "nats://" + address, Credentials: credentials})
	write := func() error { return s.Write(t.Context(), fleet.Write{Key: "a", Value: []byte("1")}) }
	if err := write(); err == nil || !strings.Contains(err.Error(), "cannot connect to nats://"+address+": nats: Authorization Violation") {
		t.Errorf("%v, want that the credentials are wrong", err)
	}
	must.Do(t, os.WriteFile(credentials, []byte(token), 0o600))
	must.Happen(t, "it works with other credentials", func() bool { return write() == nil })
}

// The store names the user and the file has the password, also for several servers.
func TestUserOfNATS(t *testing.T) {
	const user, password = "a.b@weir", "0123456789"
	address, _ := serveNATS(t, server.Options{Username: user, Password: password, Port: -1})
	credentials := fileOf(t, "password", password)
	for _, store := range []string{
		"nats://a.b%40weir@" + address, "nats://127.0.0.1:1,nats://a.b%40weir@" + address,
		"nats://a.b%40weir:another@" + address, // the file counts
	} {
		s := open(t, handover.Fleet{Name: "shop", Store: store, Credentials: credentials})
		if err := s.Write(t.Context(), fleet.Write{Key: "a", Value: []byte("1")}); err != nil {
			t.Errorf("%s: %v", store, err)
		}
	}
}

// A server that returns with other credentials, or with a certificate that has expired, is named as
// the cause until the files fit again.
func TestServerReturns(t *testing.T) {
	longtest.Skip(t)
	good, authority := certified(t, time.Now().Add(time.Hour))
	expired, _ := certified(t, time.Now().Add(-time.Hour))
	address, stop := serveNATS(t, secured(-1, token, good))
	_, text, _ := net.SplitHostPort(address)
	port := must.Have(strconv.Atoi(text))(t)
	s := open(t, handover.Fleet{Name: "shop", Store: "tls://" + address, CA: authority, Credentials: fileOf(t, "token", token)})
	var last atomic.Value
	go func() { // as a member does
		for t.Context().Err() == nil {
			err := s.Watch(t.Context(), "", func(fleet.Entry) { last.Store("works") })
			last.Store(fmt.Sprint(err))
			<-time.After(20 * time.Millisecond)
		}
	}()
	says := func(want string) func() bool {
		return func() bool { return strings.Contains(fmt.Sprint(last.Load()), want) }
	}
	must.Happen(t, "it works", says("works"))
	stop()
	must.Happen(t, "it says that there is no server", says("no connection to tls://"+address+": the server does not answer"))
	_, stop = serveNATS(t, secured(port, "another", good))
	must.Happen(t, "it says that the credentials are wrong", says("Authorization Violation"))
	stop()
	_, stop = serveNATS(t, secured(port, token, expired))
	must.Happen(t, "it says that the certificate is not to be trusted", says("certificate"))
	stop()
	serveNATS(t, secured(port, token, good))
	must.Happen(t, "it works again", says("works"))
}

// certified returns the settings of a server on 127.0.0.1 with a certificate that is valid until
// then, and the file of its authority.
func certified(t *testing.T, until time.Time) (secure *tls.Config, authority string) {
	t.Helper()
	a := certstest.New(t)
	authority = fileOf(t, "ca.pem", string(a.PEM()))
	a.Until = until
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{a.Pair("nats")}}, authority
}

func TestCertificates(t *testing.T) {
	for until, want := range map[time.Duration]string{time.Hour: "", -time.Hour: "certificate has expired"} {
		secure, authority := certified(t, time.Now().Add(until))
		address, _ := serveNATS(t, secured(-1, token, secure))
		s := open(t, handover.Fleet{Name: "shop", Store: "tls://" + address, CA: authority, Credentials: fileOf(t, "token", token)})
		err := s.Write(t.Context(), fleet.Write{Key: "a", Value: []byte("1")})
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestNoServer(t *testing.T) {
	for at, want := range map[handover.Fleet]string{
		{Store: "nats://127.0.0.1:1"}:                                        "cannot connect to nats://127.0.0.1:1: nats: no servers available",
		{Store: "postgres://me@127.0.0.1:1/weir", Refresh: time.Millisecond}: "Refresh is 1ms: want 0 (the default, 1s) or 50ms",
		{Store: "postgres://me@127.0.0.1:1/weir?sslmode=disable"}:            "cannot make the table weir_fleet: failed to connect to `user=me database=weir`",
	} {
		at.Name = "shop"
		err := open(t, at).Watch(t.Context(), "", func(fleet.Entry) {})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestBadInput(t *testing.T) {
	for text, want := range map[string]string{
		asked(t, handover.Fleet{Store: "redis://a"}):                                        `fleet.store is "redis://a": want nats://host:4222 or postgres://user@host/database`,
		asked(t, handover.Fleet{Store: "postgres://me@a/b?sslmode=x", Credentials: "gone"}): "fleet.store: cannot parse",
		"":   "WEIR_REQUEST: unexpected end of JSON input: weir proxy starts this program",
		"{}": "no fleet was asked for: weir proxy starts this program",
	} {
		if err := run(text, strings.NewReader(""), io.Discard); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A store that fails is opened anew, as its table or bucket may be gone, but not for a caller that
// has left.
func TestStoreIsOpenedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storetest.NewMemory()
		var opened atomic.Int32
		l := newLink()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go l.keep(ctx, func(context.Context) (fleet.Store, error) { opened.Add(1); return store, nil })
		gone, leave := context.WithCancel(t.Context())
		go leave()
		_ = l.Watch(gone, "", func(fleet.Entry) {})
		time.Sleep(10 * pause)
		if n := opened.Load(); n != 1 {
			t.Errorf("opened %d times, want once", n)
		}
		store.Fail(true)
		for range 3 {
			if err := l.Write(t.Context(), fleet.Write{Key: "a"}); !errors.Is(err, storetest.ErrDown) {
				t.Errorf("%v, want %v", err, storetest.ErrDown)
			}
		}
		time.Sleep(10 * pause)
		if n := opened.Load(); n < 2 || n > 3 {
			t.Errorf("opened %d times, want it once more, or twice", n)
		}
	})
}
