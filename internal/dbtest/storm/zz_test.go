package storm

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/dbtest"
	"github.com/weir-go/weir/internal/storm"
	"github.com/weir-go/weir/throttle"
)

func TestZZ(t *testing.T) {
	s := dbtest.Postgres(t)
	db := newBank(t, s)
	var cs []contender
	for _, n := range []int{1000, 3, 5, 7, 11} {
		cs = append(cs, contender{fmt.Sprint(n), func(t *testing.T) result {
			return inDatabase(t, db, func(ctx context.Context) storm.Gate {
				th, err := throttle.New(throttle.Config{Writes: throttle.Side{MaxInFlight: n, Queue: weir.Queue{Size: 200, Timeout: 5 * time.Second}}})
				if err != nil {
					t.Fatal(err)
				}
				return storm.Through(th, throttle.Write)
			})
		}})
	}
	compare(t, mixedColumns, cs...)
}
