package relay_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/relay"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/internal/must"
)

// inBadger serves a store in Badger.
func inBadger(t *testing.T) *served {
	t.Helper()
	events := must.Have(store.Open(store.Options{Dir: t.TempDir(), Memory: 256 << 20}))(t)
	c := must.Have(relay.Badger(relay.Config{}, events))(t)
	t.Cleanup(func() {
		if err := events.Close(); err != nil {
			t.Error(err)
		}
	})
	return serve(t, c)
}

// asClient is the environment variable that makes this program a client of the relay at an
// address.
const asClient = "RELAY_TEST_CLIENT_OF"

// TestMain runs the client in a process of its own: go-nostr v0.38.2 has a data race at the
// end of a connection.
func TestMain(m *testing.M) {
	url := os.Getenv(asClient)
	if url == "" {
		os.Exit(m.Run())
	}
	if err := useGoNostr(context.Background(), url); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func TestGoNostrClient(t *testing.T) {
	s := inBadger(t)
	program := must.Have(os.Executable())(t)
	client := exec.CommandContext(t.Context(), program)
	client.Env = append(os.Environ(), asClient+"="+strings.Replace(s.url, "http", "ws", 1), "GORACE=exitcode=0")
	if out, err := client.Output(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// useGoNostr behaves like a client, and returns the first fault.
func useGoNostr(ctx context.Context, url string) error {
	r, err := nostr.RelayConnect(ctx, url)
	if err != nil {
		return err
	}
	note := someone.event(1, "hello", nostr.Tag{"t", "greeting"})
	if err := r.Publish(ctx, *note); err != nil {
		return err
	}
	sub, err := r.Subscribe(ctx, nostr.Filters{{Tags: nostr.TagMap{"t": {"greeting"}}}})
	if err != nil {
		return err
	}
	if got := <-sub.Events; got.ID != note.ID {
		return fmt.Errorf("stored: received %v, want %v", got, note)
	}
	<-sub.EndOfStoredEvents
	second := someone.event(1, "again", nostr.Tag{"t", "greeting"})
	if err := r.Publish(ctx, *second); err != nil {
		return err
	}
	if got := <-sub.Events; got.ID != second.ID {
		return fmt.Errorf("live: received %v, want %v", got, second)
	}
	sub.Unsub()
	if n, err := r.Count(ctx, nostr.Filters{{Authors: []string{someone.key()}}}); err != nil || n != 2 {
		return fmt.Errorf("COUNT says %d, %w, want 2", n, err)
	}
	old, current := someone.event(0, "{}"), &nostr.Event{Kind: 0, CreatedAt: nostr.Now() + 1, Content: `{"name":"new"}`}
	someone.sign(current)
	if err := r.Publish(ctx, *current); err != nil {
		return err
	}
	if err := refused(r.Publish(ctx, *old), "newer"); err != nil {
		return err
	}
	both, err := r.Subscribe(ctx, nostr.Filters{{Kinds: []int{0, 1}}})
	if err != nil {
		return err
	}
	found := map[string]bool{} // go-nostr delivers events in any order
	for range 3 {
		found[(<-both.Events).ID] = true
	}
	if <-both.EndOfStoredEvents; !found[current.ID] || !found[note.ID] || !found[second.ID] {
		return fmt.Errorf("found %v, want both notes and the new profile", found)
	}
	return nil
}

// refused returns an error unless err has the reason.
func refused(err error, reason string) error {
	if err == nil || !strings.Contains(err.Error(), reason) {
		return fmt.Errorf("refused with %w, want %s", err, reason)
	}
	return nil
}
