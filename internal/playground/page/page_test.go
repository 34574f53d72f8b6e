package page

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/weir-go/weir/internal/chromium"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/playground"
	"github.com/weir-go/weir/internal/race"
)

var screenshots = flag.String("screenshots", "", "a `folder` for screenshots of the page")

// The page shows what the simulator of this program answers, to its user alone.
func TestPlaygroundWithoutANetwork(t *testing.T) {
	longtest.Skip(t)
	race.Skip(t, "simulations take too long under the race detector")
	server := httptest.NewServer(New())
	defer server.Close()
	tab := chromium.Start(t).Tab(t)
	tab.Look(t, 1280, 1800, "light")
	tab.Open(t, server.URL+"/#slow30")
	tab.Wait(t, `answer && !busy && answer.name === 'slow30' && plots.length === 4 && document.querySelectorAll('#scenario option').length > 20`)
	text, err := playground.Handle(t.Context(), []byte(`{"scenario": "slow30", "laws": ["setpoint", "gradient2", "aimd", "fixed(200)"], "seed": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	var want playground.Answer
	must.Do(t, json.Unmarshal(text, &want))
	for i, r := range want.Runs {
		tab.Wait(t, fmt.Sprintf("answer.runs[%d].good === %d && answer.runs[%d].refused === %d", i, r.Good, i, r.Refused))
	}
	tab.Views(t, "playground", 1800, "plots[0].width === document.getElementById('charts').clientWidth", *screenshots)
	for _, complaint := range tab.Errors() {
		t.Errorf("in the console: %s", complaint)
	}
	server.CloseClientConnections()
	server.Close()
	tab.Eval(t, "(document.getElementById('seed').value = 2, run())", nil)
	tab.Wait(t, "document.getElementById('state').textContent.startsWith('the simulator does not answer')")
}

func TestForeignPagesRunNothing(t *testing.T) {
	request := `{"scenario": "slow30", "laws": ["fixed(2)"], "seed": 1}`
	for what, c := range map[string]struct {
		host, body, site string
		want             int
	}{
		"its own page":   {"localhost", request, "same-origin", 200},
		"a foreign page": {"localhost", request, "cross-site", 403},
		"DNS rebinding":  {"attacker.example", request, "same-origin", 421},
		"no scenario":    {"127.0.0.1:80", `{"scenario": "x"}`, "same-origin", 400},
		"a huge request": {"localhost", `{"scenario": "` + strings.Repeat("x", 1<<20), "same-origin", 400},
	} {
		r := httptest.NewRequest(http.MethodPost, "http://"+c.host+"/run", strings.NewReader(c.body))
		r.Header.Set("Sec-Fetch-Site", c.site)
		w := httptest.NewRecorder()
		New().ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s: %d %.80s, want %d", what, w.Code, w.Body, c.want)
		}
	}
}

// Of many pages, only some have their simulation run, and the others wait or leave.
func TestRunsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := make(runner, 1)
		slots <- struct{}{} // another page's
		ask := func(ctx context.Context) (answered chan int) {
			answered = make(chan int, 1)
			go func() {
				r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/run", strings.NewReader(`{"scenario": "slow30"}`))
				w := httptest.NewRecorder()
				slots.ServeHTTP(w, r)
				answered <- w.Body.Len()
			}()
			synctest.Wait()
			return answered
		}
		ctx, leave := context.WithCancel(t.Context())
		patient, gone := ask(t.Context()), ask(ctx)
		if len(patient)+len(gone) > 0 {
			t.Fatal("more run than there are slots")
		}
		leave()
		if n := <-gone; n != 0 {
			t.Errorf("a page that left has an answer of %d bytes", n)
		}
		<-slots
		if n := <-patient; n == 0 || len(slots) != 0 {
			t.Errorf("%d bytes in its turn, %d slots taken after it", n, len(slots))
		}
	})
}
