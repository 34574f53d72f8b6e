// Command plain is a reverse proxy of a few lines with the standard library, a baseline for
// weir proxy.
//
//	plain -listen 127.0.0.1:8080 -to http://127.0.0.1:9000
package main

import (
	"flag"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "address to serve on")
	to := flag.String("to", "http://127.0.0.1:9000", "server behind the proxy")
	flag.Parse()
	target, err := url.Parse(*to)
	if err != nil {
		log.Fatal(err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 0, 1000
	transport.DisableCompression = true
	log.Fatal(http.ListenAndServe(*listen, &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.SetXForwarded()
		},
	}))
}
