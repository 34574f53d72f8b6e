package dash

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
)

const recorded = `{"weir":"recording","version":1}
{"overview":{"limiters":[{"name":"a","limit":3},{"name":"b","limit":4}],"more":1}}
{"details":{"name":"a","points":[[1000,3,0,0,0,0,0,0,0,0]],"changes":[],"refusals":[],"decision":"x"}}
{"details":{"name":"b","points":[[1000,3,0,0,0,0,0,0,0,0],[1500,4,0,0,0,0,0,0,0,0]],"changes":[{"at":1500,"to":4,"up":true,"why":"w","text":"raised 3 to 4"}],"refusals":[],"decision":"y"}}
`

func TestReplayShowsTheWholeRecording(t *testing.T) {
	h := must.Have(Replay(strings.NewReader(recorded), Config{Public: true}))(t)
	for limiter, want := range map[string]int{"b": 2, "nobody": 1} {
		c := must.Have(h.hub.join(view{limiter: limiter}))(t)
		message := string(<-c.messages)
		head := "event: recording\ndata: {\"from\":1000,\"to\":1500}\n\n"
		rest, ok := strings.CutPrefix(message, head)
		if !ok {
			t.Fatalf("begins with %q", message)
		}
		c.messages <- []byte(rest)
		o, d := next(t, c)
		if len(o.Limiters) != 2 || o.Limiters[1].Limit != 4 || o.More != 1 || !d.Whole || len(d.Points) != want || len(d.Changes) != want-1 {
			t.Errorf("%s: %+v, %+v", limiter, o, d)
		}
	}
	h.Close()
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://localhost/events", nil))
	if answer.Code != 503 || answer.Header().Get("Retry-After") == "" {
		t.Errorf("after Close: %d, %v", answer.Code, answer.Header())
	}
}

func TestReplayRefusesWhatIsWrong(t *testing.T) {
	for want, do := range map[string]func() (*Handler, error){
		"line 1":       func() (*Handler, error) { return Replay(strings.NewReader("x\n"), Config{Public: true}) },
		"Token is nil": func() (*Handler, error) { return Replay(strings.NewReader(recorded), Config{}) },
	} {
		if _, err := do(); !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestRecordersGetAllLimiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{snaps: []weir.Snapshot{{Name: "a"}, {Name: "b"}}}
		h := newHub(Config{Read: w.read})
		defer end(h)
		for range mostRecorders {
			c := must.Have(h.join(view{all: true}))(t)
			for _, whole := range []string{"true", "false"} {
				message := string(<-c.messages)
				for _, name := range []string{"a", "b"} {
					if want := `{"name":"` + name + `","whole":` + whole; !strings.Contains(message, want) {
						t.Errorf("no %s in %s", want, message)
					}
				}
			}
		}
		if _, err := h.join(view{all: true}); err != errRecorded {
			t.Errorf("one too many: %v", err)
		}
		join(t, h, "a")
	})
}
