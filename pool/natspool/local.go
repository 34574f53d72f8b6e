package natspool

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weir-go/weir/internal/disk"
)

// A Local is a connection to the NATS server of a folder. Make one with [Open].
type Local struct {
	dir  string
	conn *nats.Conn
	js   jetstream.JetStream

	mu     sync.Mutex
	server *server.Server // nil if another process runs the server
	lock   *os.File
	fault  error // why this process, which has the lock, could not run the server
}

// Open returns a connection to the NATS server of a folder, which it makes if need be. The first
// process that opens the folder locks it and runs the server. Other processes connect to that
// server. When the first process ends, another process takes over.
//
// On Windows Open returns an error that matches errors.ErrUnsupported.
//
// The server listens on 127.0.0.1 only, and asks for a token that is in the folder, in a file
// that only its user may read. It keeps its data on disk.
func Open(ctx context.Context, dir string) (*Local, error) {
	ctx = cmp.Or(ctx, context.Background())
	l := &Local{dir: dir}
	if err := l.open(ctx); err != nil {
		_ = l.Close() // the error before counts
		return nil, fmt.Errorf("natspool: the folder %s: %w", dir, err)
	}
	return l, nil
}

func (l *Local) open(ctx context.Context) error {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		err := l.connect()
		if err == nil || l.fault != nil {
			return cmp.Or(l.fault, err)
		}
		select { // the other process may be about to start its server, or to end
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("another process has it, and its server does not answer: %w", err)
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
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end()
}

// end ends the server, and lets another process have the folder.
func (l *Local) end() error {
	if l.server != nil {
		l.server.Shutdown()
		l.server.WaitForShutdown()
	}
	if l.lock == nil {
		return nil
	}
	err := l.lock.Close()
	l.server, l.lock = nil, nil
	return err
}

func (l *Local) connect() (err error) {
	l.conn, err = nats.Connect("", nats.SetCustomDialer(dialer{l}), nats.TokenHandler(l.token),
		nats.MaxReconnects(-1), nats.ReconnectWait(pause),
		nats.PingInterval(5*time.Second), nats.MaxPingsOutstanding(2)) // the process of the server may be stopped
	if err != nil {
		return err
	}
	l.js, err = jetstream.New(l.conn)
	return err
}

type dialer struct{ *Local }

// Dial connects to the server of the folder, wherever it is by now, and first runs it if no other
// process does. The client calls it, and again while it has lost the connection.
func (l dialer) Dial(network, _ string) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.server == nil {
		err := l.serve()
		if errors.Is(err, errLocked) {
			return l.join(network)
		}
		if l.fault = err; err != nil {
			return nil, err
		}
	}
	return l.server.InProcessConn()
}

// join connects to the server of another process.
func (l *Local) join(network string) (net.Conn, error) {
	a, err := readAccess(l.file())
	if err != nil {
		return nil, err
	}
	return net.DialTimeout(network, net.JoinHostPort("127.0.0.1", strconv.Itoa(a.Port)), startTime)
}

func (l *Local) token() string {
	a, _ := readAccess(l.file()) // Dial has read it
	return a.Token
}

// An access has the port of a folder's server, and the token that it asks for.
type access struct {
	Port  int    `json:"port"`
	Token string `json:"token"`
}

func (l *Local) file() string { return filepath.Join(l.dir, "access.json") }

const startTime = 10 * time.Second

// serve locks the folder and starts the server.
func (l *Local) serve() (err error) {
	if l.lock, err = lockFile(filepath.Join(l.dir, "lock")); err != nil {
		return err
	}
	if err = l.start(); err != nil {
		_ = l.end() // the error before counts
	}
	return err
}

// leastRoom is the least free space of a disk, in MB. The server writes blocks of 4 MB anew when it
// opens a stream, and crashes if it cannot.
const leastRoom = 8

func (l *Local) start() error {
	if left, known := disk.Left(l.dir); known && left < leastRoom<<20 {
		return fmt.Errorf("%d MB of its disk are free: want at least %d", left>>20, leastRoom)
	}
	a, err := readAccess(l.file())
	if err != nil { // there is none, or it is empty since the power failed
		a = access{}
	}
	a.Port, a.Token = cmp.Or(a.Port, server.RANDOM_PORT), cmp.Or(a.Token, rand.Text())
	if !isFree(a.Port) { // another program has it
		a.Port = server.RANDOM_PORT
	}
	l.server, err = server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: a.Port, Authorization: a.Token, JetStream: true, StoreDir: filepath.Join(l.dir, "nats"),
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
	return writeAccess(l.file(), a)
}

func isFree(port int) bool {
	if port == server.RANDOM_PORT {
		return true
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	return err == nil && listener.Close() == nil
}

func readAccess(file string) (a access, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("%s: %w", file, err)
	}
	return a, nil
}

// writeAccess replaces the file as a whole: another process may read it at any moment.
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
