package dash

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// A page that looks with a token that is no longer the one gets nothing more by it.
func TestAnotherTokenEndsTheStream(t *testing.T) {
	for _, public := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var token atomic.Value
			token.Store(strings.Repeat("x", shortestToken))
			h := must.Have(New(Config{Read: Limiters(), Public: public, Token: func() (string, error) { return token.Load().(string), nil }}))(t)
			defer end(h.hub)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			open := func(header string) (ended chan struct{}) {
				r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/events", nil)
				r.Header.Set("Authorization", header)
				ended = make(chan struct{})
				go func() {
					defer close(ended)
					h.ServeHTTP(httptest.NewRecorder(), r)
				}()
				return ended
			}
			over := func(stream chan struct{}) bool {
				synctest.Wait()
				select {
				case <-stream:
					return true
				default:
					return false
				}
			}
			trusted, stranger := open("Bearer "+token.Load().(string)), open("")
			time.Sleep(time.Minute)
			if over(trusted) || over(stranger) == public {
				t.Fatalf("public: %v: the streams did not begin as they should", public)
			}
			token.Store(strings.Repeat("y", shortestToken))
			time.Sleep(recheck)
			if !over(trusted) {
				t.Errorf("public: %v: the stream goes on with an old token", public)
			}
			if public && over(stranger) {
				t.Error("the stream without a token ended, too")
			}
			leave()
			synctest.Wait()
		})
	}
}
