package natspool

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weir-go/weir/internal/disk"
)

// A Local is a connection to the NATS server of a folder. Make one with [Open].
type Local struct {
	conn   *nats.Conn
	js     jetstream.JetStream
	server *server.Server // nil: another process runs it
	lock   *os.File
}

// Open returns a connection to the NATS server of a folder, which it makes if need be. The first
// process that opens the folder locks it and runs the server; the others connect to that one. While
// it is gone they wait, until one opens the folder anew.
//
// On Windows it is an error that matches errors.ErrUnsupported.
//
// The server listens on 127.0.0.1 only, and asks for a token that is in the folder, in a file
// that only its user may read. It keeps its data on disk.
func Open(ctx context.Context, dir string) (*Local, error) {
	ctx = cmp.Or(ctx, context.Background())
	l, err := openLocal(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("natspool: the folder %s: %w", dir, err)
	}
	return l, nil
}

func openLocal(ctx context.Context, dir string) (*Local, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		lock, err := lockFile(filepath.Join(dir, "lock"))
		switch {
		case err == nil:
			return serve(dir, lock)
		case !errors.Is(err, errLocked):
			return nil, err
		}
		l, err := join(dir)
		if err == nil {
			return l, nil
		}
		select { // the other process may be about to start its server, or to end
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return nil, fmt.Errorf("another process has it, and its server does not answer: %w", err)
		}
	}
}

// JetStream returns the JetStream of the server.
func (l *Local) JetStream() jetstream.JetStream { return l.js }

// Close ends the connection, and the server if this process runs it.
func (l *Local) Close() error {
	if l.conn != nil {
		l.conn.Close()
	}
	if l.server != nil {
		l.server.Shutdown()
		l.server.WaitForShutdown()
	}
	if l.lock != nil {
		return l.lock.Close()
	}
	return nil
}

// An access is how to reach the server of a folder. It stays the same from one process to the next,
// so that connections find the server again.
type access struct {
	Port  int    `json:"port"`
	Token string `json:"token"`
}

const startTime = 10 * time.Second

// serve starts the server, and connects to it.
func serve(dir string, lock *os.File) (*Local, error) {
	l := &Local{lock: lock}
	if err := l.start(dir); err != nil {
		_ = l.Close() // the error before counts
		return nil, err
	}
	return l, nil
}

// leastRoom is how much of a disk has to be free in MB. The server writes blocks of 4 MB anew when
// it opens a stream, and crashes if it cannot.
const leastRoom = 8

func (l *Local) start(dir string) error {
	if left, known := disk.Left(dir); known && left < leastRoom<<20 {
		return fmt.Errorf("%d MB of its disk are free: want at least %d", left>>20, leastRoom)
	}
	file := filepath.Join(dir, "access.json")
	a, err := readAccess(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	a.Port, a.Token = cmp.Or(a.Port, server.RANDOM_PORT), cmp.Or(a.Token, rand.Text())
	if !isFree(a.Port) { // another program has it
		a.Port = server.RANDOM_PORT
	}
	l.server, err = server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: a.Port, Authorization: a.Token, JetStream: true, StoreDir: filepath.Join(dir, "nats"),
		NoSigs: true, NoLog: true,
	})
	if err != nil {
		return err
	}
	l.server.Start()
	if !l.server.ReadyForConnections(startTime) {
		return fmt.Errorf("the server did not start within %v: is there room on the disk?", startTime)
	}
	a.Port = l.server.Addr().(*net.TCPAddr).Port
	if err := writeAccess(file, a); err != nil {
		return err
	}
	return l.connect(a, nats.InProcessServer(l.server))
}

func isFree(port int) bool {
	if port == server.RANDOM_PORT {
		return true
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	return err == nil && listener.Close() == nil
}

// join connects to the server of another process.
func join(dir string) (*Local, error) {
	a, err := readAccess(filepath.Join(dir, "access.json"))
	if err != nil {
		return nil, err
	}
	l := &Local{}
	return l, l.connect(a)
}

func (l *Local) connect(a access, opts ...nats.Option) (err error) {
	url := "nats://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(a.Port))
	opts = append(opts, nats.Token(a.Token), nats.MaxReconnects(-1), nats.ReconnectWait(pause))
	if l.conn, err = nats.Connect(url, opts...); err != nil {
		return err
	}
	l.js, err = jetstream.New(l.conn)
	return err
}

func readAccess(file string) (a access, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("%s: %w: remove it", file, err)
	}
	return a, nil
}

// writeAccess replaces the file as a whole: others may read it at any moment.
func writeAccess(file string, a access) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
