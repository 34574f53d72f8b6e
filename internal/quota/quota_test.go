package quota_test

import (
	"testing"

	"github.com/weir-go/weir/internal/quota"
)

func TestQuota(t *testing.T) {
	var q quota.Quota[string]
	for _, c := range []struct {
		who  string
		n    int64
		want bool
	}{{"a", 3, true}, {"a", 1, false}, {"b", 2, true}, {"c", 1, false}} {
		if got := q.Take(c.who, c.n, 3, 5); got != c.want {
			t.Errorf("take %d for %s: %v", c.n, c.who, got)
		}
	}
	if q.Give("a", 3); q.Used() != 2 || !q.Take("c", 3, 3, 5) {
		t.Errorf("%d are taken", q.Used())
	}
}
