package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("site", flag.ExitOnError)
	root := flags.String("root", ".", "the `folder` of the repository")
	out := flags.String("out", "_site", "the `folder` to write, which is emptied first")
	base := flags.String("base", "/weir/", "the `path` at which the site is served")
	serve := flags.String("serve", "", "an `address` to serve it at afterwards")
	if err := flags.Parse(args); err != nil {
		return err
	}

	started := time.Now()
	s, err := load(*root, *base)
	if err != nil {
		return err
	}
	if err := s.write(*out); err != nil {
		return err
	}
	fmt.Printf("%d pages in %s, in %.1f s\n", len(s.pages), *out, time.Since(started).Seconds())
	if *serve == "" {
		return nil
	}
	listener, err := net.Listen("tcp", *serve)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s%s\n", listener.Addr(), *base)
	return http.Serve(listener, http.StripPrefix(*base, http.FileServer(http.Dir(*out))))
}
