package quota_test

import (
	"testing"

	"github.com/weir-go/weir/internal/quota"
)

// Who was given nothing, because there was nothing to give, may give it back.
func TestNothingComesBack(t *testing.T) {
	var q quota.Quota[string]
	if q.Take("a", 1, 0, 0) {
		t.Error("there was something to take")
	}
	if q.Give("a", 0); q.Used() != 0 {
		t.Errorf("%d are taken", q.Used())
	}
}

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
