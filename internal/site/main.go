package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
)

// base is the path at which the site is served.
const base = "/weir/"

func main() {
	serve := flag.String("serve", "", "an `address` to serve the site at afterwards")
	flag.Parse()
	if err := run(*serve); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(serve string) error {
	const out = "_site"
	s, err := load(".")
	if err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := s.write(out); err != nil {
		return err
	}
	fmt.Printf("%d pages in %s\n", len(s.pages), out)
	if serve == "" {
		return nil
	}
	listener, err := net.Listen("tcp", serve)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s%s\n", listener.Addr(), base)
	return http.Serve(listener, http.StripPrefix(base, http.FileServer(http.Dir(out))))
}
