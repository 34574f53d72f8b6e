package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/weir-go/weir/examples/relay/relay"
)

type serving struct {
	place
	listen, internal string
	conf             relay.Config // the settings set by flags
}

func declareServe(flags *flag.FlagSet) func(context.Context, []string, streams) error {
	s := new(serving)
	s.declare(flags)
	flags.StringVar(&s.listen, "listen", "localhost:7777", "`address` for clients. Empty for none")
	flags.StringVar(&s.internal, "internal", "localhost:7778", "`address` for metrics and clients without a rate; nothing public may reach it. Empty for none")
	flags.StringVar(&s.conf.Name, "name", "Weir relay", "`name` in the information document")
	flags.IntVar(&s.conf.Connections, "connections", 0, "how many there may be; 0 for 4000, or fewer if -memory has no room for them")
	flags.IntVar(&s.conf.ConnectionsPerAddress, "connections-per-address", 0, "how many of one address; 0 for 64")
	flags.Float64Var(&s.conf.ConnectionRate, "connection-rate", 0, "new ones per second; 0 for 200")
	flags.Float64Var(&s.conf.MessageRate, "message-rate", 0, "messages of a connection per second; 0 for 100")
	flags.IntVar(&s.conf.Subscriptions, "subscriptions", 0, "of a connection; 0 for 32")
	flags.IntVar(&s.conf.Reads, "reads", 0, "queries that read at once; 0 for one less than the processors")
	flags.IntVar(&s.conf.Writes, "writes", 0, "events that are written at once; 0 for 8")
	return func(ctx context.Context, _ []string, std streams) error {
		if s.listen == "" && s.internal == "" {
			return usageError{errors.New("serve: -listen and -internal are both empty: want an address for one of them")}
		}
		s.conf.Logger = slog.New(slog.NewTextHandler(std.err, nil))
		return s.run(ctx, s.conf, s.serve)
	}
}

// serve serves both listeners until ctx ends or one of them fails.
func (s *serving) serve(ctx context.Context, server *relay.Server) error {
	log := s.conf.Logger
	failed := make(chan error, 2)
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	internal := &http.Server{Handler: server.Internal(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	defer internal.Close()
	for _, l := range []struct {
		name, address string
		serve         func(net.Listener) error
	}{
		{"listen", s.listen, func(l net.Listener) error { return server.Serve(serving, l) }},
		{"internal", s.internal, internal.Serve},
	} {
		if l.address == "" {
			continue
		}
		listener, err := net.Listen("tcp", l.address)
		if err != nil {
			return fmt.Errorf("-%s: %w", l.name, err)
		}
		log.Info("listening", "for", l.name, "address", listener.Addr().String())
		go func() { failed <- l.serve(listener) }()
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		log.Info("closing")
		return nil
	}
}
