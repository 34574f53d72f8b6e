package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/must"
)

// Flags are short for a file.
func TestFlagsAreSettings(t *testing.T) {
	args := strings.Fields("proxy --to http://h/base --listen 127.0.0.1:0 --admin= --timeout 20ms " +
		"--max 9 --law fixed(limit=4) --queue 5 --queue-timeout 3s --shadow")
	parser := must.Have(newParser(io.Discard, io.Discard, func(int) {}))(t)
	command := must.Have(parser.Parse(args))(t)
	got, _, err := command.Selected().Target.Interface().(proxyCommand).settings(command)
	if err != nil {
		t.Fatal(err)
	}
	want := must.Have(config.Parse("weir.yaml", []byte(`
listeners: [{address: "127.0.0.1:0"}]
upstreams: {proxy: {addresses: ["http://h/base"]}}
routes: [{timeout: 20ms}]
compartments:
  proxy: {max: 9, law: fixed(limit=4), queue: {size: 5, timeout: 3s}, shadow: true}
admin: {address: none}
`)))(t)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the flags are\n%+v\nand the file is\n%+v", got, want)
	}
}

// A proxy says where it serves and where its state is, and ends after its last request.
func TestProxyOfFlags(t *testing.T) {
	asked, release := make(chan string, 1), make(chan struct{})
	backend := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked <- fmt.Sprintf("%s %s %s %s %s", r.Method, r.URL, r.Host, r.Header.Get("X-Forwarded-For"), body)
		<-release
	}))
	defer backend.Close()
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	defer out.Close()
	ended := make(chan error, 1)
	go func() {
		args := []string{"proxy", "--to", backend.URL + "/base", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}
		ended <- run(ctx, args, in, io.Discard)
	}()
	lines := bufio.NewScanner(out)
	said := func(before string) string {
		lines.Scan()
		_, address, found := strings.Cut(lines.Text(), before)
		if !found {
			t.Fatalf("said %q", lines.Text())
		}
		return address
	}
	address, snapshot, page := said("weir: limiting "+backend.URL+"/base on "), said("weir: state on "), said("weir: live in a browser on ")
	last := make(chan string, 1)
	go func() {
		line := ""
		for lines.Scan() {
			line = lines.Text()
		}
		last <- line
	}()

	go http.Post("http://"+address+"/a/b?c=d", "text/plain", strings.NewReader("body"))
	if got, want := <-asked, "POST /base/a/b?c=d "+address+" 127.0.0.1 body"; got != want {
		t.Errorf("the backend saw\n%s, want\n%s", got, want)
	}
	for url, want := range map[string]string{snapshot: `"in_flight":1,`, page: "<html"} {
		answer := must.Have(http.Get(url))(t)
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if !strings.Contains(strings.ReplaceAll(string(text), " ", ""), want) {
			t.Errorf("%s: no %s in\n%s", url, want, text)
		}
	}
	stop()
	close(release)
	must.Do(t, <-ended)
	in.Close()
	if got := <-last; got != "weir: stopped after 1 requests" {
		t.Errorf("at last it says %q", got)
	}
}

// The socket's address in the proxy's output can be pasted.
func TestAdminOnASocket(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "admin")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	out := new(bytes.Buffer)
	args := []string{"proxy", "--to", "http://127.0.0.1:1", "--listen", "127.0.0.1:0", "--admin", "unix:" + socket}
	must.Do(t, run(ctx, args, out, io.Discard))
	if want := "curl --unix-socket " + socket + " http://localhost/-/weir/snapshot\n"; !strings.Contains(out.String(), want) {
		t.Errorf("%s, want %s", out, want)
	}
}
