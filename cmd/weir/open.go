package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/dash"
)

// A window is a dashboard on a loopback address, in the user's browser.
type window struct {
	address string
	server  *http.Server
	dash    *dash.Handler
}

// open shows what read reads. Without a browser, the user can still follow the printed address.
func (w *window) open(ctx context.Context, read func() []weir.Snapshot, messages io.Writer, env environ) (err error) {
	// Only this machine can connect, and the handler refuses what foreign pages send.
	if w.dash, err = dash.New(dash.Config{Read: read, Public: true}); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	w.address = fmt.Sprintf("http://%v/", listener.Addr())
	w.server = &http.Server{Handler: w.dash, ReadHeaderTimeout: time.Minute}
	go func() { _ = w.server.Serve(listener) }() // until close
	fmt.Fprintf(messages, "weir: live on %s\n", w.address)
	name, args := browser(env)
	// The browser outlives this command.
	if cmd := exec.CommandContext(context.WithoutCancel(ctx), name, append(args, w.address)...); cmd.Start() == nil {
		go func() { _ = cmd.Wait() }()
	}
	return nil
}

func (w *window) close() {
	if w.server != nil {
		w.dash.Close()
		_ = w.server.Close()
	}
}

// browser returns the command that opens an address in the user's browser: the variable BROWSER
// names it, or the system has one.
func browser(env environ) (name string, args []string) {
	switch own := env.get("BROWSER"); {
	case own != "":
		return own, nil
	case runtime.GOOS == "darwin":
		return "open", nil
	case runtime.GOOS == "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}
	}
	return "xdg-open", nil
}
