package main

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/weir-go/weir"
)

// adminHandler answers operators, on an address of its own.
//
//	GET /-/weir/snapshot   the limiter's state as JSON
//	GET /-/weir/healthz    200, or 503 while it stops; shedding load is healthy
func adminHandler(lim *weir.Limiter, stopping context.Context) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /-/weir/snapshot", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		out := json.NewEncoder(w)
		out.SetIndent("", "  ")
		_ = out.Encode(lim.Snapshot()) // fails only if the client left
	})
	mux.HandleFunc("GET /-/weir/healthz", func(w http.ResponseWriter, _ *http.Request) {
		if stopping.Err() != nil {
			http.Error(w, "stopping", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	})
	return mux
}
