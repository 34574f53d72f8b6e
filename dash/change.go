package dash

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/weir-go/weir/law"
)

// errNoChange is the answer to a form for a function that the configuration does not have.
var errNoChange = errors.New("this dashboard does not change that")

// change gives a limiter another law, or turns its shadow mode on or off. [New] keeps foreign pages
// from sending the form.
func (h *Handler) change(w http.ResponseWriter, r *http.Request) {
	if err := h.trusts(r); err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	err := r.ParseForm()
	if err == nil {
		err = h.apply(r.PostForm)
	}
	switch {
	case errors.Is(err, errNoChange):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

func (h *Handler) apply(form url.Values) error {
	limiter, text, shadow := form.Get("limiter"), form.Get("law"), form.Get("shadow")
	switch {
	case !form.Has("limiter") || form.Has("law") == form.Has("shadow"):
		return errors.New("want a form with limiter, and law or shadow")
	case form.Has("shadow") && h.hub.config.Shadow != nil:
		if shadow != "true" && shadow != "false" {
			return fmt.Errorf("shadow is %.20q: want true or false", shadow)
		}
		return h.hub.config.Shadow(limiter, shadow == "true")
	case form.Has("law") && h.hub.config.Law != nil:
		var l law.Law
		var err error
		if text != "" {
			if l, err = law.Parse(text); err != nil {
				return err
			}
		}
		return h.hub.config.Law(limiter, l)
	}
	return errNoChange
}
