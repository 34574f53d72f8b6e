// Package crowdtest runs the examples in the time of a testing/synctest bubble. Only tests
// import it.
package crowdtest

import (
	"bytes"
	"context"
	"net"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/weir-go/weir/examples/internal/crowd"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
)

// Run runs an example on a network of pipes for its default time, and returns its output.
func Run(t *testing.T, run func(context.Context, crowd.Show) error) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), crowd.Show{Out: &out, Each: crowd.Usual, Listen: pipes}); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	time.Sleep(time.Minute) // a bubble ends only after all of its goroutines have ended
	return out.String()
}

// Figures returns the two numbers of the line that matches a pattern.
func Figures(t *testing.T, out, pattern string) (first, second int) {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("no %q in\n%s", pattern, out)
	}
	return must.Have(strconv.Atoi(found[1]))(t), must.Have(strconv.Atoi(found[2]))(t)
}

func pipes() (net.Listener, crowd.Dial, error) {
	l := tcptest.NewPipes()
	return l, func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx) }, nil
}
