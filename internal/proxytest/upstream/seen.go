package main

import (
	"encoding/json"
	"net/http"
	"sync"
)

// seen counts requests by the header Trial-Id. Requests without it are not counted.
type seen struct {
	mu    sync.Mutex
	times map[string]int
}

func (s *seen) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id := r.Header.Get("Trial-Id"); id != "" {
			s.add(id)
			w.Header().Set("Trial-Id", id)
		}
		next.ServeHTTP(w, r)
	})
}

func (s *seen) add(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.times == nil {
		s.times = map[string]int{}
	}
	s.times[id]++
}

// ServeHTTP answers with the counts.
func (s *seen) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s.times) // fails only if the client left
}
