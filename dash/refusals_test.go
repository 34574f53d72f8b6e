package dash_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/internal/must"
)

var errFull = &weir.RefusedError{Limiter: "search", Reason: weir.ReasonQueueFull}

func TestIdentifiersNeedTheToken(t *testing.T) {
	var refusals dash.Refusals
	d := newDash(t, dash.Config{Read: dash.Limiters(), Refusals: &refusals, Token: secret, Public: true})
	refusals.Add(t.Context(), "no refusal", errors.New("x"))
	refusals.Add(weir.WithTenant(t.Context(), "acme"), "r-1", fmt.Errorf("wrapped: %w", errFull))
	events := func(header ...string) string {
		return read(t, ask(t, d, "GET", "http://localhost/events", "", header...))
	}
	for what, header := range map[string][]string{
		"nothing":       nil,
		"another token": {"Authorization", "Bearer " + token + "x"},
	} {
		if text := events(header...); strings.Contains(text, "r-1") || strings.Contains(text, "acme") || !strings.Contains(text, `{"login":true,"law":false,"shadow":false}`) {
			t.Errorf("with %s: %s", what, text)
		}
	}
	text := events("Authorization", "Bearer "+token)
	if !strings.Contains(text, `"id":"r-1","limiter":"search","reason":"queue full","tenant":"acme"`) || strings.Contains(text, "no refusal") || !strings.Contains(text, `{"login":false,"law":false,"shadow":false}`) {
		t.Errorf("with the token: %s", text)
	}
}

func TestRefusalsAreBounded(t *testing.T) {
	var refusals dash.Refusals
	d := newDash(t, dash.Config{Read: dash.Limiters(), Refusals: &refusals, Token: secret})
	for i := range 1000 {
		refusals.Add(t.Context(), fmt.Sprintf("r-%03d", i), errFull)
	}
	refusals.Add(context.Background(), strings.Repeat("x", 1<<20), errFull)
	if refusals.String() != "1001 refusals" {
		t.Error(&refusals)
	}
	text := read(t, ask(t, d, "GET", "http://localhost/events", "", "Authorization", "Bearer "+token))
	if n := strings.Count(text, `"id":`); n != 256 || !strings.Contains(text, "r-999") || strings.Contains(text, "r-744") || len(text) > 64<<10 {
		t.Errorf("%d requests in %d bytes", n, len(text))
	}
}

// A recording has tenants and identifiers if its recorder had the token. Where a dashboard has a
// token, they need it again.
func TestTenantsAndIdentifiersOfARecording(t *testing.T) {
	recorded := `{"weir":"recording","version":1}
{"overview":{"limiters":[{"name":"acme","tenant":true}]}}
{"details":{"name":"acme","whole":true,"points":[[1772600400000,20,9,0,0,40,88.5,100,100,0]]}}
{"details":{"name":"search","whole":true,"points":[[1772600400000,20,9,0,0,40,88.5,100,100,0]]}}
{"requests":[{"at":1772600400000,"id":"r-1","limiter":"search","reason":"queue full"}]}
`
	for what, c := range map[string]struct {
		dash.Config
		want bool
	}{
		"of one's own": {dash.Config{Public: true}, true},
		"with a token": {dash.Config{Public: true, Token: secret}, false},
	} {
		d := must.Have(dash.Replay(strings.NewReader(recorded), c.Config))(t)
		text := read(t, ask(t, d, "GET", "http://localhost/events?all=1&limiter=acme", ""))
		if strings.Contains(text, "r-1") != c.want || strings.Contains(text, "acme") != c.want || !strings.Contains(text, `{"name":"search","whole":true`) {
			t.Errorf("%s: %s", what, text)
		}
	}
}
