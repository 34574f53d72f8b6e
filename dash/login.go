package dash

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"

	"github.com/weir-go/weir/internal/access"
)

const (
	shortestToken = 16      // bytes, as of the proxy's admin.token
	mostForm      = 8 << 10 // bytes of a form
)

// token returns the token, or an error if it cannot be read or is too short.
func (h *Handler) token() (string, error) {
	token, err := h.hub.config.Token()
	if err == nil && len(token) < shortestToken {
		err = fmt.Errorf("the token has %d bytes: want %d or more", len(token), shortestToken)
	}
	return token, err
}

// session returns the cookie for a token. The cookie does not reveal the token, and a new token
// makes it invalid. Its name depends on the token, because a browser sends the cookies of a host to
// all ports: two dashboards would end each other's sessions.
func session(token string) *http.Cookie {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("weir dash"))
	value := hex.EncodeToString(mac.Sum(nil))
	return &http.Cookie{Name: "weir_dash_" + value[:8], Value: value, HttpOnly: true, SameSite: http.SameSiteStrictMode}
}

// errNoToken is the answer to requests without the token.
var errNoToken = errors.New("want the token: Authorization: Bearer TOKEN, or the cookie that the page gives for it")

// mayLook returns an error if a request may not look.
func (h *Handler) mayLook(r *http.Request) error {
	if h.hub.config.Public {
		return nil
	}
	return h.trusts(r)
}

// trusts returns an error if a request may not use a page that needs the token.
func (h *Handler) trusts(r *http.Request) error {
	if h.hub.config.Token == nil {
		return errors.New("this dashboard has no token")
	}
	token, err := h.token()
	if err != nil {
		return errors.New("the token cannot be read") // do not reveal from where
	}
	if access.Bearer(r, token) {
		return nil
	}
	own := session(token)
	if cookie, err := r.Cookie(own.Name); err == nil && hmac.Equal([]byte(cookie.Value), []byte(own.Value)) {
		return nil
	}
	return errNoToken
}

// page serves the dashboard, or the form for the token.
func (h *Handler) page(w http.ResponseWriter, r *http.Request) {
	if h.mayLook(r) != nil {
		send(w, "login.html", http.StatusUnauthorized)
		return
	}
	send(w, "dash.html", http.StatusOK)
}

func send(w http.ResponseWriter, name string, status int) {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // they are in the binary
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text) // fails only if the client left
}

// login exchanges the token for a cookie. The cookie has no Path, so the browser sends it only to
// the dashboard.
func (h *Handler) login(w http.ResponseWriter, r *http.Request) {
	if h.hub.config.Token == nil {
		http.Error(w, "this dashboard needs no token", http.StatusNotFound)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	token, err := h.token()
	if err != nil || !access.Same(r.PostFormValue("token"), token) {
		http.Error(w, "this is not the token: go back and try again", http.StatusUnauthorized)
		return
	}
	cookie := session(token)
	cookie.Secure = r.TLS != nil
	http.SetCookie(w, cookie)
	w.Header().Set("Location", "./") // http.Redirect would resolve it without a stripped prefix
	w.WriteHeader(http.StatusSeeOther)
}
