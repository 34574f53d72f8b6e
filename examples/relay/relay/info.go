package relay

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/weir-go/weir/examples/relay/nostr"
)

// supported lists the NIPs that the relay implements.
var supported = []int{1, 9, 11, 42, 45, 70}

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

func (s *Server) information() nostr.Information {
	c := s.conf
	limitation := c.Limits.Limitation()
	limitation.Subscriptions = c.Subscriptions
	limitation.RestrictedWrites = c.AuthToWrite
	return nostr.Information{
		Name: c.Name, Description: c.Description, Contact: c.Contact, PubKey: c.PubKey,
		SupportedNIPs: supported, Software: "https://github.com/weir-go/weir",
		Limitation: limitation,
	}
}
