package dash

import (
	"fmt"
	"net/http"
	"strconv"
)

// pin changes a limit, or lets the law decide again if the form has none. [New] keeps foreign pages
// from sending the form.
func (h *Handler) pin(w http.ResponseWriter, r *http.Request) {
	if h.config.Pin == nil {
		http.Error(w, "this dashboard changes nothing", http.StatusNotFound)
		return
	}
	if err := h.trusts(r); err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	if err := r.ParseForm(); err != nil || !r.PostForm.Has("limiter") || !r.PostForm.Has("limit") {
		http.Error(w, "want a form with limiter and limit", http.StatusBadRequest)
		return
	}
	var limit *int
	if text := r.PostForm.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			http.Error(w, fmt.Sprintf("limit is %.20q: want a number from 1 on, or nothing to let the law decide", text), http.StatusBadRequest)
			return
		}
		limit = &n
	}
	if err := h.config.Pin(r.PostForm.Get("limiter"), limit); err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
