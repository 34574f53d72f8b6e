package neo4jload_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load/neo4jload"
)

// Package internal/dbtest tests the measurements with a server.

func TestSettingsAreChecked(t *testing.T) {
	const uri = "neo4j://localhost"
	for _, test := range []struct {
		conf neo4jload.Config
		want string
	}{
		{neo4jload.Config{}, "URI is empty"},
		{neo4jload.Config{URI: "http://localhost"}, `URI is "http://localhost"`},
		{neo4jload.Config{URI: uri, Running: -1}, "Running is -1"},
		{neo4jload.Config{URI: uri, Blocked: -1}, "Blocked is -1"},
		{neo4jload.Config{URI: uri, Connections: -1}, "Connections is -1"},
		{neo4jload.Config{URI: uri, Wait: -time.Second}, "Wait is -1s"},
	} {
		_, err := neo4jload.New(test.conf)
		if !errors.Is(err, neo4jload.ErrConfig) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want that %s", test.conf, err, test.want)
		}
	}
}

func TestServerThatIsNotThereIsAnError(t *testing.T) {
	source := must.Have(neo4jload.New(neo4jload.Config{URI: "bolt://127.0.0.1:1"}))(t)
	defer source.Close(t.Context())
	if _, err := source.Poll(t.Context()); err == nil {
		t.Error("a server that is not there was measured")
	}
}

// A server that takes connections and never answers keeps Close and a second Poll no longer than
// their contexts.
func TestServerThatHangs(t *testing.T) {
	listener := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	source := must.Have(neo4jload.New(neo4jload.Config{URI: "bolt://" + listener.Addr().String()}))(t)
	polling, end := context.WithTimeout(t.Context(), 3*time.Second)
	defer end()
	polled := make(chan error)
	go func() {
		_, err := source.Poll(polling)
		polled <- err
	}()
	must.Have(listener.Accept())(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := source.Poll(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second Poll: %v", err)
	}
	if err := source.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close during the Poll: %v", err)
	}
	end()
	if err := <-polled; err == nil {
		t.Error("a server that hangs was measured")
	}
	must.Do(t, source.Close(t.Context()))
}

func ExampleNew() {
	source, err := neo4jload.New(neo4jload.Config{URI: "neo4j://localhost", Blocked: 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer source.Close(context.Background())
	fmt.Println(source.Name()) // for a load.Config
	// Output: neo4j
}
