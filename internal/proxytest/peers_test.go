package proxytest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
)

// A peer is a running proxy, or the running upstream itself.
type peer struct {
	*process
	url   string // where clients connect
	admin string // admin address of weir
}

// An upstream has a number of workers. A request keeps a worker busy for a time between least
// and most.
type upstream struct {
	workers     int
	least, most time.Duration
}

// capacity is the number of requests it can do in a second.
func (u upstream) capacity() float64 {
	return float64(u.workers) / ((u.least + u.most) / 2).Seconds()
}

func startUpstream(t testing.TB, u upstream) peer {
	t.Helper()
	return startUpstreamAt(t, u, tcptest.FreeAddress(t))
}

func startUpstreamAt(t testing.TB, u upstream, address string) peer {
	t.Helper()
	p := peer{url: "http://" + address}
	p.process = start(t, "upstream", program(t, "upstream"), "-listen", address,
		"-workers", fmt.Sprint(max(1, u.workers)), "-work", fmt.Sprintf("%v-%v", max(u.least, 1), max(u.most, u.least, 1)))
	p.await(t, p.url+"/ready")
	return p
}

func startPlain(t testing.TB, to peer) peer {
	t.Helper()
	address := tcptest.FreeAddress(t)
	p := peer{url: "http://" + address}
	p.process = start(t, "ReverseProxy", program(t, "plain"), "-listen", address, "-to", to.url)
	p.await(t, p.url+"/ready")
	return p
}

// startWeir starts weir proxy with its default flags and the given ones.
func startWeir(t testing.TB, to peer, flags ...string) peer {
	t.Helper()
	address, admin := tcptest.FreeAddress(t), tcptest.FreeAddress(t)
	p := peer{url: "http://" + address, admin: "http://" + admin}
	p.process = start(t, "weir", program(t, "weir"), append([]string{"proxy", "--to", to.url, "--listen", address, "--admin", admin}, flags...)...)
	p.await(t, p.url+"/ready")
	return p
}

// startHAProxy starts HAProxy. With a maxconn of 0 it forwards all requests at once;
// otherwise the excess waits in its queue, which requests leave when their clients leave.
func startHAProxy(t testing.TB, to peer, maxconn int, queue time.Duration) peer {
	t.Helper()
	server := "server s " + strings.TrimPrefix(to.url, "http://")
	if maxconn > 0 {
		server += fmt.Sprintf(" maxconn %d", maxconn)
	}
	return startHAProxyBefore(t, queue, server)
}

// startHAProxyBefore starts HAProxy before servers, each a line of its configuration.
func startHAProxyBefore(t testing.TB, queue time.Duration, servers ...string) peer {
	t.Helper()
	address := tcptest.FreeAddress(t)
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	must.Write(t, file, fmt.Sprintf(`global
  maxconn 9000
defaults
  mode http
  option abortonclose
  option http-buffer-request
  timeout connect 5s
  timeout check 5s
  timeout client 60s
  timeout server 60s
  timeout http-request 60s
  timeout queue %dms
frontend clients
  bind %s
  default_backend servers
backend servers
  balance leastconn
  option httpchk GET /ready
  %s
`, queue.Milliseconds(), address, strings.Join(servers, "\n  ")))
	p := peer{url: "http://" + address}
	p.process = start(t, "HAProxy", installed(t, "haproxy"), "-db", "-q", "-f", file)
	p.await(t, p.url+"/ready")
	return p
}

// startNginx starts nginx. If limit is above 0, it refuses requests beyond that concurrency.
func startNginx(t testing.TB, to peer, limit int) peer {
	t.Helper()
	bound := ""
	if limit > 0 {
		bound = fmt.Sprintf("limit_conn all %d;", limit)
	}
	return startNginxWith(t, to, "", bound)
}

// startNginxWith starts nginx with directives for http and for the location.
func startNginxWith(t testing.TB, to peer, all, bound string) peer {
	t.Helper()
	address, dir, user := tcptest.FreeAddress(t), t.TempDir(), ""
	if os.Getuid() == 0 {
		user = "user root;" // the folder is the test's own
	}
	file := filepath.Join(dir, "nginx.conf")
	must.Write(t, file, fmt.Sprintf(`daemon off;
%s
worker_processes auto;
pid %[2]s/pid;
error_log stderr error;
events { worker_connections 9000; }
http {
  access_log off;
  client_body_temp_path %[2]s/body;
  proxy_temp_path %[2]s/proxy;
  fastcgi_temp_path %[2]s/fastcgi;
  uwsgi_temp_path %[2]s/uwsgi;
  scgi_temp_path %[2]s/scgi;
  limit_conn_zone $server_name zone=all:1m;
  %[6]s
  upstream servers {
    server %[3]s;
    keepalive 1000;
    keepalive_requests 100000000;
  }
  server {
    listen %[4]s;
    server_name all;
    keepalive_requests 100000000;
    location / {
      %[5]s
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_pass http://servers;
    }
  }
}
`, user, dir, strings.TrimPrefix(to.url, "http://"), address, bound, all))
	p := peer{url: "http://" + address}
	p.process = start(t, "nginx", installed(t, "nginx"), "-c", file)
	p.await(t, p.url+"/ready")
	return p
}
