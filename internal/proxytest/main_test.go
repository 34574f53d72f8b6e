package proxytest

import (
	"os"
	"testing"

	"github.com/weir-go/weir/internal/longtest"
)

func TestMain(m *testing.M) {
	status := m.Run()
	if longtest.All() {
		removeBuilt()
	}
	os.Exit(status)
}
