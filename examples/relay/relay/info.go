package relay

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// supported lists the NIPs that the relay implements.
var supported = []int{1, 11, 45}

// inform answers a request that is not a WebSocket handshake: with the information document
// if the client accepts it.
func (s *Server) inform(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*") // NIP-11: pages of all origins read it
	h.Set("Access-Control-Allow-Headers", "*")
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
	h.Add("Vary", "Accept")
	switch {
	case r.Method == http.MethodOptions:
		w.WriteHeader(http.StatusNoContent)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD, OPTIONS")
		http.Error(w, "want GET", http.StatusMethodNotAllowed)
	case strings.Contains(r.Header.Get("Accept"), "application/nostr+json"):
		h.Set("Content-Type", "application/nostr+json")
		_ = json.NewEncoder(w).Encode(s.information())
	default:
		h.Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = fmt.Fprintln(w, "This is a Nostr relay: connect with a Nostr client.")
	}
}

// information returns the document of NIP-11. go-nostr's type lacks two of the limits.
func (s *Server) information() map[string]any {
	c, l := s.conf, s.conf.Limits.WithDefaults()
	return map[string]any{
		"name": c.Name, "supported_nips": supported,
		"software": "https://github.com/weir-go/weir",
		"limitation": map[string]any{
			"max_message_length": l.Message, "max_content_length": l.Content, "max_event_tags": l.Tags,
			"max_subscriptions": c.Subscriptions, "max_subid_length": l.Subscription, "max_filters": l.Filters,
			"max_limit": l.Limit, "default_limit": l.Limit, "created_at_upper_limit": int(l.Future / time.Second),
			"auth_required": false, "payment_required": false, "restricted_writes": false,
		},
	}
}
