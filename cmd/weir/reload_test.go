package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// A change of the file causes one reload, even if the script that writes it also sends SIGHUP, or
// the proxy still starts. SIGHUP always reloads an unchanged file, because the files that it names
// may have changed.
func TestOneReloadForOneChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, reloads := "a", 0
		hangup, look := make(chan os.Signal), make(chan time.Time)
		go eachChange(t.Context(), hangup, look, []byte("before the start"), func() []byte { return []byte(file) }, func() { reloads++ })
		synctest.Wait()
		for _, step := range []struct {
			file   string
			hangup bool
			want   int
		}{
			{"a", false, 0}, // it changed while the proxy started
			{"a", false, 1},
			{"b", true, 2},  // a script writes the file and sends SIGHUP,
			{"b", false, 2}, // and two looks see the same change
			{"b", false, 2},
			{"c", false, 2}, // still being written
			{"d", false, 2},
			{"d", false, 3},
			{"d", false, 3},
			{"d", true, 4},
			{"d", true, 5},
			{"b", false, 5},
			{"b", false, 6},
		} {
			file = step.file
			if step.hangup {
				hangup <- syscall.SIGHUP
			} else {
				look <- time.Now()
			}
			if synctest.Wait(); reloads != step.want {
				t.Errorf("%+v: %d reloads", step, reloads)
			}
		}
	})
}

// systemd starts dependent units once the proxy listens.
func TestNotify(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	t.Setenv("NOTIFY_SOCKET", socket)
	listener := must.Have(net.ListenPacket("unixgram", socket))(t)
	defer listener.Close()
	stop := begin(t, io.Discard, io.Discard, "proxy", "--to", "http://127.0.0.1:1", "--listen", "127.0.0.1:0", "--admin", "")
	told := func(want string) {
		t.Helper()
		said := make([]byte, 64)
		n, _, err := listener.ReadFrom(said)
		if err != nil || string(said[:n]) != want {
			t.Fatalf("systemd was told %q, %v: want %s", said[:n], err, want)
		}
	}
	told("READY=1")
	stop()
	told("STOPPING=1")
}

// A shell gives a command the output of another as a pipe: weir proxy --config <(./render).
func TestConfigurationFromAPipe(t *testing.T) {
	from, to, err := os.Pipe()
	must.Do(t, err)
	defer from.Close()
	must.Have(to.WriteString("listeners: [{address: '127.0.0.1:0'}]\nadmin: {address: none}\nupstreams: {api: {addresses: ['http://127.0.0.1:1']}}\n"))(t)
	must.Do(t, to.Close())
	path := fmt.Sprintf("/dev/fd/%d", from.Fd())
	if !isPipe(path) || isPipe(os.Args[0]) || isPipe("/none") {
		t.Error("isPipe: want it for the pipe alone")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Do(t, run(ctx, []string{"proxy", "--config", path}, io.Discard, io.Discard))
}

// A script starts the proxy and sends SIGHUP while the proxy still reads its file.
func TestHangupDuringTheStart(t *testing.T) {
	from, to, err := os.Pipe()
	must.Do(t, err)
	defer from.Close()
	proxy := exec.Command(must.Have(os.Executable())(t))
	proxy.Args = []string{"weir", "proxy", "--config", "/dev/fd/3"}
	proxy.ExtraFiles = []*os.File{from}
	out := must.Have(proxy.StdoutPipe())(t)
	must.Do(t, proxy.Start())
	defer proxy.Process.Kill()
	must.Have(io.WriteString(to, "#"+strings.Repeat(" ", 100_000)+"\n"))(t) // more than the pipe takes
	must.Do(t, proxy.Process.Signal(syscall.SIGHUP))
	must.Have(io.WriteString(to, "listeners: [{address: '127.0.0.1:0'}]\nadmin: {address: none}\nupstreams: {api: {addresses: ['http://127.0.0.1:1']}}\n"))(t)
	must.Do(t, to.Close())
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("said %q, %v, %v: want the address", line, err, proxy.Wait())
	}
	must.Do(t, proxy.Process.Signal(os.Interrupt))
	if err := proxy.Wait(); err != nil {
		t.Errorf("%v, want status 0", err)
	}
}

// A named pipe that takes the place of the file ends no watch of it.
func TestContentsOfAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Skipf("needs a named pipe: %v: %s", err, out)
	}
	read := make(chan []byte, 1)
	go func() { read <- proxyCommand{Config: pipe}.contents() }()
	must.Happen(t, "the pipe is read", func() bool { return len(read) == 1 })
	if text := <-read; len(text) > 0 {
		t.Errorf("%q, want nothing", text)
	}
}
