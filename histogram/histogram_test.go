package histogram_test

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/histogram"
)

// above reports whether d is above 2^(index/8) seconds, without rounding: whether d^8 > 10^72 *
// 2^index in nanoseconds.
func above(d time.Duration, index int) bool {
	have := new(big.Int).Exp(big.NewInt(int64(d)), big.NewInt(8), nil)
	want := new(big.Int).Exp(big.NewInt(10), big.NewInt(72), nil)
	if index < 0 {
		have.Lsh(have, uint(-index))
	} else {
		want.Lsh(want, uint(index))
	}
	return have.Cmp(want) > 0
}

func TestIndexIsExact(t *testing.T) {
	check := func(d time.Duration) {
		t.Helper()
		i := histogram.Index(d)
		if above(d, i) || !above(d, i-1) {
			t.Fatalf("%d ns: bucket %d", d, i)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		check(max(1, time.Duration(r.Int64()>>r.IntN(63))))
	}
	for i := -239; i < 265; i++ {
		_, upper := histogram.Bucket{Index: i}.Bounds()
		for _, d := range []time.Duration{-1, 0, 1} {
			check(max(1, time.Duration(upper*float64(time.Second))+d))
		}
	}
	for d, want := range map[time.Duration]int{
		math.MinInt64: -239, -1: -239, 0: -239, 1: -239, math.MaxInt64: 265,
		time.Second: 0, time.Second + 1: 1, 2 * time.Second: 8, 500 * time.Millisecond: -8,
	} {
		if got := histogram.Index(d); got != want {
			t.Errorf("%v: bucket %d: want %d", d, got, want)
		}
	}
}

// of is the histogram of durations by its definition.
func of(durations []time.Duration) *histogram.Snapshot {
	counts := map[int]uint64{}
	s := &histogram.Snapshot{}
	for _, d := range durations {
		s.Count++
		s.Sum += d.Seconds()
		counts[histogram.Index(d)]++
	}
	for i := -239; i <= 265; i++ {
		if counts[i] > 0 {
			s.Buckets = append(s.Buckets, histogram.Bucket{Index: i, Count: counts[i]})
		}
	}
	return s
}

func TestQuantileIsWithinItsError(t *testing.T) {
	const most = 0.044
	r := rand.New(rand.NewPCG(3, 4))
	worst := 0.0
	for range 300 {
		durations := make([]time.Duration, 1+r.IntN(1000))
		for i := range durations {
			durations[i] = time.Duration(math.Exp(7 + r.Float64()*25))
		}
		s := of(durations)
		slices.Sort(durations)
		for range 20 {
			q := r.Float64()
			exact := durations[max(0, int(math.Ceil(q*float64(len(durations))))-1)]
			off := math.Abs(float64(s.Quantile(q)-exact)) / float64(exact)
			worst = max(worst, off)
			if off > most {
				t.Fatalf("%v for the quantile %v, which is %v", s.Quantile(q), q, exact)
			}
		}
	}
	if worst < 0.9*most {
		t.Errorf("off by %v at most: the stated error is too large", worst)
	}
}

func TestQuantileOfOddNumbers(t *testing.T) {
	s := of([]time.Duration{time.Second, time.Minute})
	for q, want := range map[float64]time.Duration{
		-1: time.Second, 0: time.Second, 0.5: time.Second, 0.51: time.Minute, 1: time.Minute,
		2: time.Minute, math.Inf(1): time.Minute, math.NaN(): time.Second,
	} {
		if got := s.Quantile(q); histogram.Index(got) != histogram.Index(want) {
			t.Errorf("quantile %v is %v: want %v", q, got, want)
		}
	}
	if got := (&histogram.Snapshot{}).Quantile(0.5); got != 0 {
		t.Errorf("%v of nothing: want 0", got)
	}
	if got := of([]time.Duration{math.MaxInt64}).Quantile(1); got < math.MaxInt64/100*95 {
		t.Errorf("%v of the longest duration", got)
	}
}

func TestAddIsTheHistogramOfAll(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		a, b := make([]time.Duration, r.IntN(50)), make([]time.Duration, r.IntN(50))
		for _, part := range [][]time.Duration{a, b} {
			for i := range part {
				part[i] = time.Duration(r.Int64N(1000)) * time.Second
			}
		}
		x, y := of(a), of(b)
		sum, want := x.Add(y), of(slices.Concat(a, b))
		if sum.Count != want.Count || sum.Sum != want.Sum || !slices.Equal(sum.Buckets, want.Buckets) {
			t.Fatalf("%v: want %v", sum, want)
		}
		if !reflect.DeepEqual(x, of(a)) || !reflect.DeepEqual(y, of(b)) {
			t.Fatal("a part was changed")
		}
	}
}

func TestAddOfNone(t *testing.T) {
	var none *histogram.Snapshot
	one := of([]time.Duration{time.Second})
	if got := none.Add(nil); got != nil {
		t.Errorf("%v: want nil", got)
	}
	for _, got := range []*histogram.Snapshot{none.Add(one), one.Add(nil)} {
		if got.Count != 1 || got == one || &got.Buckets[0] == &one.Buckets[0] {
			t.Errorf("%v: want a copy of %v", got, one)
		}
	}
}

func TestTheLatestExemplarOfAnOctaveStays(t *testing.T) {
	at := time.Unix(1, 0)
	exemplar := func(label string, value time.Duration, after time.Duration) *histogram.Snapshot {
		return &histogram.Snapshot{Exemplars: []histogram.Exemplar{{Label: label, Value: value, At: at.Add(after)}}}
	}
	var s *histogram.Snapshot
	for _, x := range []*histogram.Snapshot{
		exemplar("slow", 3*time.Second, 0), exemplar("first", time.Second+2, 1),
		exemplar("last", time.Second+1, 3), exemplar("between", time.Second+3, 2),
	} {
		s = s.Add(x)
	}
	var got []string
	for _, e := range s.Exemplars {
		got = append(got, e.Label)
	}
	if want := []string{"last", "slow"}; !slices.Equal(got, want) {
		t.Errorf("%q: want %q", got, want)
	}
}

func TestJSON(t *testing.T) {
	text, err := json.Marshal(of([]time.Duration{time.Second, 2 * time.Second}))
	const want = `{"count":2,"sum_seconds":3,"buckets":[{"index":0,"count":1},{"index":8,"count":1}]}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v: want %s", text, err, want)
	}
}
