package dash

import (
	"net/http"
	"time"
)

// patience is how long a client may take to read a message before its connection is closed.
const patience = 10 * time.Second

// rights are the forms that the page shows.
type rights struct {
	Login bool `json:"login"`
	Pin   bool `json:"pin"`
}

// events streams the state of all limiters, and the details of one, as server-sent events:
// https://html.spec.whatwg.org/multipage/server-sent-events.html.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	if err := h.mayLook(r); err != nil {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	trusted := h.trusts(r) == nil
	c, err := h.hub.join(view{
		limiter: r.FormValue("limiter"), all: r.FormValue("all") != "",
		trusted: trusted || h.hub.recorded != nil && h.config.Token == nil,
	})
	if err != nil {
		w.Header().Set("Retry-After", "5")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer h.hub.leave(c)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx passes it on at once
	out := http.NewResponseController(w)
	_, _ = w.Write(event("access", rights{Login: !trusted && h.config.Token != nil, Pin: trusted && h.config.Pin != nil}))
	for {
		select {
		case <-r.Context().Done():
			return
		case message, ok := <-c.messages:
			if !ok {
				return
			}
			_ = out.SetWriteDeadline(time.Now().Add(patience)) // as far as the server can
			if _, err := w.Write(message); err != nil {
				return
			}
			if err := out.Flush(); err != nil {
				return
			}
		}
	}
}
