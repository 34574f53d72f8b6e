package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/proxy"
	"github.com/weir-go/weir/law"
)

type proxyCommand struct {
	Config string `placeholder:"FILE" help:"Take everything from this file: see weir check and weir schema. Read again on SIGHUP and when it changes."`

	To      *url.URL      `type:"upstream" placeholder:"URL" help:"Server to protect, such as http://127.0.0.1:9000."`
	Listen  string        `default:":8080" placeholder:"ADDRESS" help:"Address to serve on (default ${default})."`
	Admin   string        `default:"127.0.0.1:8081" placeholder:"ADDRESS" help:"Address of /metrics and /-/weir/snapshot (default ${default}); empty for none."`
	Timeout time.Duration `type:"pause" default:"1m" placeholder:"TIME" help:"How long the upstream may take to answer before the client gets a 504 (default ${default}); 0 is any time. Does not end streams."`

	limitFlags `group:"The limit:"`
}

// limitFlags are the settings of the limiter. A missing flag is zero, which means the
// library's default; an explicit zero is only accepted where zero is a valid setting.
type limitFlags struct {
	Law          law.Law       `placeholder:"LAW" help:"Control law that finds the limit: ${laws}. Defaults to setpoint, which needs no target. See weir help laws."`
	Max          int           `type:"count" placeholder:"N" help:"Greatest limit. Defaults to 100000."`
	Queue        int           `type:"size" default:"1000" placeholder:"N" help:"Requests that may wait for a slot (default ${default}); 0 refuses them at once."`
	QueueTimeout time.Duration `type:"span" placeholder:"TIME" help:"How long one may wait. Defaults to 1s."`
	Shadow       bool          `help:"Admit everything, and count what would have been refused."`
}

// Run serves until ctx ends, then waits for the requests in flight.
func (c proxyCommand) Run(ctx context.Context, command *kong.Context, s streams) error {
	s = s.unwatched()
	signal.Ignore(syscall.SIGPIPE) // a reader of the log that ends must not end the proxy
	hangup, ignore := c.hangups()
	defer ignore()
	settings, applied, err := c.settings(command)
	if err != nil {
		return usageError{err}
	}
	log, lines := newLog(settings.Log, s)
	defer lines.Close()
	store, stopStore, err := startFleetStore(settings.Fleet, log, s.err)
	if err != nil {
		return err
	}
	defer stopStore()
	p, err := proxy.New(settings, proxy.Options{Log: log, Lines: lines, Read: c.read(), Store: store})
	if err != nil {
		return usageError{c.named(err)}
	}
	c.greet(s.out, settings, p)
	defer c.reloadOnChange(ctx, p, applied, hangup)()
	ended := announce(ctx, log)
	err = c.named(p.Run(ctx))
	ended()
	fmt.Fprintf(s.out, "weir: stopped after %d requests\n", p.Requests())
	return err
}

// settings returns the proxy's configuration, and its text if it is in a file.
func (c proxyCommand) settings(command *kong.Context) (settings *config.Config, text []byte, err error) {
	switch given := givenFlags(command); {
	case c.Config != "" && len(given) > 1:
		given = slices.DeleteFunc(given, func(flag string) bool { return flag == "--config" })
		return nil, nil, fmt.Errorf("%s beside --config: want it in %s", strings.Join(given, ", "), c.Config)
	case c.Config != "":
		return config.Load(c.Config)
	case c.To == nil:
		return nil, nil, errors.New("want --to=URL of the server to protect, or --config=FILE")
	}
	text, err = c.file()
	if err == nil {
		settings, err = config.Parse("", text)
	}
	return settings, nil, c.named(err)
}

// read returns the function that reads the configuration again; nil without a file.
func (c proxyCommand) read() func() (*config.Config, error) {
	if c.Config == "" {
		return nil
	}
	return func() (*config.Config, error) {
		settings, _, err := config.Load(c.Config)
		return settings, err
	}
}

// givenFlags lists the flags of the command line.
func givenFlags(command *kong.Context) (names []string) {
	for _, element := range command.Path {
		if element.Flag != nil {
			names = append(names, "--"+element.Flag.Name)
		}
	}
	return names
}

// file returns, as JSON, the configuration file that the flags replace.
func (c proxyCommand) file() ([]byte, error) {
	type object map[string]any
	queue := object{"size": c.Queue}
	if c.QueueTimeout > 0 {
		queue["timeout"] = c.QueueTimeout.String()
	}
	limit := object{"queue": queue, "shadow": c.Shadow}
	if c.Max > 0 {
		limit["max"] = c.Max
	}
	if c.Law != nil {
		limit["law"] = fmt.Sprint(c.Law)
	}
	return json.Marshal(object{
		"listeners":    []object{{"address": c.Listen}},
		"upstreams":    object{upstreamName: object{"addresses": []string{c.To.String()}}},
		"routes":       []object{{"timeout": c.Timeout.String()}},
		"compartments": object{upstreamName: limit},
		"admin":        object{"address": cmp.Or(c.Admin, "none")},
	})
}

// upstreamName is the name of the only upstream and of its compartment in figures and metrics.
const upstreamName = "proxy"

// flags maps settings of the configuration to the flags that set them.
var flags = strings.NewReplacer(
	"listeners[0].address", "--listen", "admin.address", "--admin", "upstreams.proxy.addresses[0]", "--to",
	"compartments.proxy.queue.size", "--queue", "compartments.proxy.queue.timeout", "--queue-timeout", "compartments.proxy.", "--",
)

// named rewrites an error about settings in terms of flags if the user gave flags.
func (c proxyCommand) named(err error) error {
	if c.Config != "" || err == nil {
		return err
	}
	var named []error
	for _, err := range eachOf(err) {
		named = append(named, errors.New(flags.Replace(err.Error())))
	}
	return errors.Join(named...)
}

func (c proxyCommand) greet(out io.Writer, settings *config.Config, p *proxy.Proxy) {
	what := "by " + c.Config
	if c.Config == "" {
		what = c.To.String()
	}
	listeners, operators := p.Addresses()
	for _, address := range listeners {
		fmt.Fprintf(out, "weir: limiting %v on %v\n", what, address)
	}
	switch {
	case settings.Admin.Address == "none":
	case operators[0].Network() == "unix":
		fmt.Fprintf(out, "weir: state by curl --unix-socket %v http://localhost/-/weir/snapshot\n", operators[0])
	default:
		fmt.Fprintf(out, "weir: state on http://%v/-/weir/snapshot\n", operators[0])
		fmt.Fprintf(out, "weir: live in a browser on http://%v/-/weir/dash/\n", operators[0])
	}
}

// lookEvery is how often the proxy looks whether its file has changed.
const lookEvery = time.Second

// contents returns the text of the file. An unreadable file counts as empty.
func (c proxyCommand) contents() []byte {
	text, _ := config.Read(c.Config)
	return text
}

// isPipe reports whether a path names a pipe, which gives its text once and is then empty.
func isPipe(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// hangups receives SIGHUP, which would otherwise end the proxy. It begins before the file is read,
// and goes on until everything has ended.
func (c proxyCommand) hangups() (hangup chan os.Signal, stop func()) {
	hangup = make(chan os.Signal, 1)
	if c.Config == "" {
		return hangup, func() {}
	}
	signal.Notify(hangup, syscall.SIGHUP)
	return hangup, func() { signal.Stop(hangup) }
}

// reloadOnChange reloads the file on SIGHUP and when it changes.
func (c proxyCommand) reloadOnChange(ctx context.Context, p *proxy.Proxy, applied []byte, hangup <-chan os.Signal) (stop func()) {
	if c.Config == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	look := time.NewTicker(lookEvery)
	if isPipe(c.Config) {
		look.Stop()
	}
	reload := func() { _ = p.Reload() } // which logs its result
	go eachChange(ctx, hangup, look.C, applied, c.contents, reload)
	return func() { look.Stop(); cancel() }
}

// eachChange calls reload on each hangup, and when the file differs from the applied text and is
// the same at two looks. A script may still be writing a file that differs between two looks.
func eachChange(ctx context.Context, hangup <-chan os.Signal, look <-chan time.Time, applied []byte, read func() []byte, reload func()) {
	seen := applied
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
		case <-look:
			before := seen
			seen = read()
			if !bytes.Equal(seen, before) || bytes.Equal(seen, applied) {
				continue
			}
		}
		applied = read()
		reload()
	}
}
