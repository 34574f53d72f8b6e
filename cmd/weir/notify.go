package main

import (
	"context"
	"log/slog"
	"net"
	"os"
	"sync"
)

// announce notifies the service manager behind NOTIFY_SOCKET, such as systemd, that the
// program is ready, and that it is stopping once ctx ends or ended is called: see
// sd_notify(3).
func announce(ctx context.Context, log *slog.Logger) (ended func()) {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return func() {}
	}
	tell := func(state string) {
		if err := notify(socket, state); err != nil {
			log.Warn("the service manager was not told", "state", state, "error", err)
		}
	}
	tell("READY=1")
	ended = sync.OnceFunc(func() { tell("STOPPING=1") })
	context.AfterFunc(ctx, ended)
	return ended
}

func notify(socket, state string) error {
	conn, err := net.Dial("unixgram", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte(state))
	return err
}
