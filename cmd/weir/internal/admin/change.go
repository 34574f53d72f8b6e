package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/law"
)

// ErrCompartment matches the error of a change to a compartment that does not exist.
var ErrCompartment = errors.New("no such compartment")

// maxBody is far larger than any change.
const maxBody = 4 << 10

// until is how long a change lasts, as text.
const until = "the next reload or restart"

func (p Proxy) pin(w http.ResponseWriter, r *http.Request) {
	limit, ok := asked[*int](w, r, "pin", `{"pin": 20}, or {"pin": null} to let the law decide`)
	if !ok {
		return
	}
	var l law.Law
	if limit != nil {
		if *limit < 1 || *limit > settings.MaxSlots {
			http.Error(w, fmt.Sprintf("pin is %d: want 1 to %d, or null", *limit, settings.MaxSlots), http.StatusBadRequest)
			return
		}
		l = law.Fixed{Limit: *limit}
	}
	name := r.PathValue("compartment")
	answer(w, p.Law(name, l), map[string]any{"compartment": name, "pin": limit, "until": until})
}

func (p Proxy) shadow(w http.ResponseWriter, r *http.Request) {
	on, ok := asked[*bool](w, r, "shadow", `{"shadow": true} or {"shadow": false}`)
	if !ok {
		return
	}
	if on == nil {
		http.Error(w, "shadow is null: want true or false", http.StatusBadRequest)
		return
	}
	name := r.PathValue("compartment")
	answer(w, p.Shadow(name, *on), map[string]any{"compartment": name, "shadow": *on, "until": until})
}

func (p Proxy) reload(w http.ResponseWriter, r *http.Request) {
	if !isJSON(w, r) {
		return
	}
	answer(w, p.Reload(), map[string]any{"reloaded": true})
}

// answer sends the result of a change.
func answer(w http.ResponseWriter, err error, done any) {
	switch {
	case errors.Is(err, ErrCompartment):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	default:
		writeJSON(w, done)
	}
}

// isJSON reports whether the request declares JSON. If not, it sends an error.
func isJSON(w http.ResponseWriter, r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		http.Error(w, "want Content-Type: application/json", http.StatusUnsupportedMediaType)
		return false
	}
	return true
}

// asked reads a body of one required field. If the body is wrong, it sends an error.
func asked[T any](w http.ResponseWriter, r *http.Request, field, want string) (value T, ok bool) {
	if !isJSON(w, r) {
		return value, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "the body cannot be read: "+err.Error(), http.StatusBadRequest)
		return value, false
	}
	fields := map[string]json.RawMessage{}
	err = json.Unmarshal(body, &fields)
	given, there := fields[field]
	if err == nil && there && len(fields) == 1 {
		err = json.Unmarshal(given, &value)
	}
	if err != nil || !there || len(fields) != 1 {
		http.Error(w, fmt.Sprintf("the body is %s: want %s", bytes.TrimSpace(body), want), http.StatusBadRequest)
		return value, false
	}
	return value, true
}
