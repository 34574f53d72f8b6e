package retry_test

import (
	"context"
	"testing"

	"github.com/weir-go/weir/retry"
)

// BenchmarkDo measures the cost that a client adds to a call that succeeds.
func BenchmarkDo(b *testing.B) {
	client, err := retry.New(retry.Config{})
	if err != nil {
		b.Fatal(err)
	}
	ctx, call := context.Background(), func(context.Context) error { return nil }
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_ = client.Do(ctx, call)
		}
	})
}
