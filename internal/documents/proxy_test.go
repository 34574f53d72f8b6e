package documents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
)

// A stage is where a proxy of the documents runs: on free ports in place of those that they name.
type stage struct {
	backend       *httptest.Server
	listen, admin string
}

func newStage() (*stage, error) {
	s := &stage{backend: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, answer)
	}))}
	for _, address := range []*string{&s.listen, &s.admin} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			s.backend.Close()
			return nil, err
		}
		defer listener.Close() // once both are known, so that they differ
		*address = listener.Addr().String()
	}
	return s, nil
}

const answer = "the server behind the proxy"

// moved has the ports of the stage in place of those of the documents.
func (s *stage) moved(text string) string {
	return strings.NewReplacer(
		"127.0.0.1:8080", s.listen, " :8080", " "+s.listen,
		"127.0.0.1:8081", s.admin,
		"http://127.0.0.1:9000", s.backend.URL,
	).Replace(text)
}

// begins starts a proxy on the stage. The variables move what a line or a file leaves to defaults
// or sets.
func (s *stage) begins(ctx context.Context, r *reader, text string) (stop func() error, err error) {
	variables := []string{"WEIR_LISTEN=" + s.listen, "WEIR_ADMIN=" + s.admin}
	if strings.Contains(text, "--config") {
		variables = []string{
			"WEIR__LISTENERS__0__ADDRESS=" + s.listen, "WEIR__ADMIN__ADDRESS=" + s.admin, "WEIR__PROBES__ADDRESS=127.0.0.1:0",
			fmt.Sprintf("WEIR__UPSTREAMS__SHOP__ADDRESSES=[%q]", s.backend.URL),
		}
	}
	return r.starts(ctx, s.moved(text), "state on", variables...)
}

// serves starts the proxy, asks it for a page and stops it.
func (r *reader) serves(ctx context.Context, text string) error {
	s, err := newStage()
	if err != nil {
		return err
	}
	defer s.backend.Close()
	stop, err := s.begins(ctx, r, text)
	if err != nil {
		return err
	}
	got, err := s.ask(ctx)
	if end := stop(); err == nil {
		err = end
	}
	if err == nil && got != answer {
		err = fmt.Errorf("`%s`: it answered %q", text, got)
	}
	return err
}

func (s *stage) ask(ctx context.Context) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.listen, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// asks runs the line beside a proxy, if the programs in it are there.
func (r *reader) asks(ctx context.Context, text string) error {
	commands, _ := Commands("", ".", text)
	for _, c := range commands {
		if _, err := exec.LookPath(c.Words[0]); err != nil {
			return nil // not every machine has it
		}
	}
	s, err := newStage()
	if err != nil {
		return err
	}
	defer s.backend.Close()
	stop, err := s.begins(ctx, r, "weir proxy --to http://127.0.0.1:9000")
	if err != nil {
		return err
	}
	out, err := r.command(ctx, "set -o pipefail; "+s.moved(text)).CombinedOutput()
	if err == nil && len(out) == 0 {
		err = errors.New("it printed nothing")
	}
	if end := stop(); err == nil {
		err = end
	}
	return ended(text, err, out)
}
