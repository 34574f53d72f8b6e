package page

import (
	"embed"
	"io"
	"net/http"

	"github.com/weir-go/weir/internal/access"
	"github.com/weir-go/weir/internal/playground"
	"github.com/weir-go/weir/internal/uplot"
)

//go:embed assets
var assets embed.FS

const (
	longestRequest = 64 << 10 // bytes: far longer than any scenario of the page
	mostRuns       = 2        // at a time
)

// policy lets the page load its own parts and nothing else.
const policy = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'"

// New returns the handler of the page. Requests for other hosts, and of foreign pages, are refused.
func New() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", index)
	for path, name := range map[string]string{"playground.js": "playground.js", "playground.css": "playground.css", "own.js": "own.js", "own.css": "own.css", "worker.js": "ask.js"} {
		mux.HandleFunc("GET /"+path, func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, assets, "assets/"+name) })
	}
	mux.Handle("GET /uPlot.iife.min.js", http.FileServerFS(uplot.Files))
	mux.Handle("GET /uPlot.min.css", http.FileServerFS(uplot.Files))
	mux.HandleFunc("GET /scenarios.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(playground.Scenarios())
	})
	mux.Handle("POST /run", make(runner, mostRuns))
	inside := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if !access.Host(r, nil) {
			http.Error(w, "this host is not served here: want a loopback address or localhost", http.StatusMisdirectedRequest)
			return
		}
		inside.ServeHTTP(w, r)
	})
}

// index writes the page around its middle, which the site has too.
func index(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	for _, name := range []string{"head", "playground", "foot"} {
		text, err := assets.ReadFile("assets/" + name + ".html")
		if err != nil {
			panic(err) // they are in the binary
		}
		_, _ = w.Write(text) // fails only if the client left
	}
}

// A runner has a slot for each simulation that may run.
type runner chan struct{}

// ServeHTTP runs a simulation in its turn, as long as its client stays.
func (slots runner) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longestRequest))
	var answer []byte
	if err == nil {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		case <-r.Context().Done():
			return
		}
		answer, err = playground.Handle(r.Context(), request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer)
}
