package weir

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

// A client cannot find names that count as one tenant, or as its victim: another process gives the
// same names other hashes.
func TestTenantsCannotChooseTheirHash(t *testing.T) {
	var hashes strings.Builder
	hashes.WriteString("hashes")
	for i := range 8 {
		fmt.Fprintf(&hashes, " %d", tenantHash(WithTenant(context.Background(), fmt.Sprint("tenant", i))))
	}
	const child = "WEIR_TEST_TENANT_HASHES"
	if os.Getenv(child) != "" {
		fmt.Println(hashes.String())
		return
	}
	other := exec.Command(must.Have(os.Executable())(t), "-test.run=^"+t.Name()+"$", "-test.v")
	other.Env = append(os.Environ(), child+"=1")
	if out := string(must.Have(other.Output())(t)); !strings.Contains(out, "hashes ") || strings.Contains(out, hashes.String()) {
		t.Errorf("another process has %q, want other hashes than %q", out, hashes.String())
	}
}
