package browser

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// Show serves a dashboard on a loopback address, prints the address, and opens the user's browser.
// The command is in the variable BROWSER, or is the command of the system. Without a browser, the
// user can still follow the address. Only this machine can connect. The page has to refuse requests
// of foreign pages.
func Show(ctx context.Context, page http.Handler, messages io.Writer) (address string, end func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	address = fmt.Sprintf("http://%v/", listener.Addr())
	server := &http.Server{Handler: page, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // until the end
	fmt.Fprintf(messages, "weir: the dashboard is on %s\n", address)
	name, args := command()
	// The browser outlives this command.
	if cmd := exec.CommandContext(context.WithoutCancel(ctx), name, append(args, address)...); cmd.Start() == nil {
		go func() { _ = cmd.Wait() }()
	}
	return address, func() { _ = server.Close() }, nil
}

// command returns the command that opens an address in the user's browser.
func command() (name string, args []string) {
	own := os.Getenv("BROWSER")
	switch {
	case own != "":
		return own, nil
	case runtime.GOOS == "darwin":
		return "open", nil
	case runtime.GOOS == "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}
	}
	return "xdg-open", nil
}
