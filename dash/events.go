package dash

import (
	"fmt"
	"net/http"
	"time"
)

// patience is how long a client may take to read a message before its connection is closed.
const patience = 10 * time.Second

// recheck is the time between two checks of the right to look, while a stream lasts.
const recheck = 5 * time.Second

// rights are the forms that the page shows.
type rights struct {
	Login  bool `json:"login"`
	Law    bool `json:"law"`
	Shadow bool `json:"shadow"`
}

// events streams the state of all limiters, and the details of one, as server-sent events:
// https://html.spec.whatwg.org/multipage/server-sent-events.html. The stream ends when its request
// gains or loses the trust of the token. The page then connects again, with its new rights.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	if err := h.mayLook(r); err != nil {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	trusted := h.trusts(r) == nil
	c, err := h.hub.join(view{
		limiter: r.FormValue("limiter"), all: r.FormValue("all") != "",
		trusted: trusted || h.hub.recorded != nil && h.hub.config.Token == nil,
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
	if err := out.Flush(); err != nil {
		http.Error(w, fmt.Sprintf("the page needs a ResponseWriter that flushes, or has a method Unwrap: %T: %v", w, err), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(event("access", rights{
		Login: !trusted && h.hub.config.Token != nil, Law: trusted && h.hub.config.Law != nil, Shadow: trusted && h.hub.config.Shadow != nil,
	}))
	again := time.NewTicker(recheck)
	defer again.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-again.C:
			if (h.trusts(r) == nil) != trusted {
				return
			}
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
			_ = out.SetWriteDeadline(time.Time{}) // HTTP/2 would end the stream then, even if all is read
		}
	}
}
