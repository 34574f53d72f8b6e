package config_test

import (
	"fmt"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/must"
)

// small is the smallest configuration.
const small = "upstreams:\n  api: {addresses: [\"http://10.0.0.1:9000\"]}\n"

func parsed(t *testing.T, text string) *config.Config {
	t.Helper()
	return must.Have(config.Parse("w", []byte(text)))(t)
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Errorf("accepted, want %s", want)
		return
	}
	if got := err.Error(); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	return must.Write(t, t.TempDir()+"/"+name, text)
}

// wantURLs is the error for wrong addresses that follow each other in quotes from a column
// on.
func wantURLs(column int, addresses ...string) (all string) {
	for i, address := range addresses {
		all += fmt.Sprintf("w:2:%d: upstreams.api.addresses[%d] is %q: want a URL such as http://10.0.0.1:9000, without user, query and fragment\n", column, i, address)
		column += len(address) + len("'', ")
	}
	return all
}
