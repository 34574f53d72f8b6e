//go:build unix

package main

import (
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/locked"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool"
)

// TestDashboardThatCannotBe: the user sees why, and the worker closes what it did not open.
func TestDashboardThatCannotBe(t *testing.T) {
	slots := must.Have(capacity.New(capacity.Vector{"slots": 1}))(t)
	jobs := must.Have(pool.New(pool.Config{Capacity: slots, Source: pool.Slice(nil)}))(t)
	first := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t) // starts the network of this process
	must.Do(t, first.Close())
	var files syscall.Rlimit
	must.Do(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files))
	none := files
	none.Cur = 0
	must.Do(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none))
	var shown dashboard
	err := shown.open(t.Context(), jobs, "orders", new(locked.Buffer))
	must.Do(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &files))
	if err == nil || !strings.Contains(err.Error(), "too many open files") {
		t.Errorf("%v", err)
	}
	shown.close()
}
