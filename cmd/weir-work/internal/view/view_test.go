package view

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/weir-go/weir/pool"
)

// at are figures so many seconds after a start, with a backlog and the attempts that ended.
func at(seconds int, backlog int64, done uint64) Figures {
	return Figures{
		At:      time.Date(2026, 3, 1, 12, 0, seconds, 0, time.UTC),
		Backlog: pool.Depth{Count: backlog, Exact: true}, Running: 38, Size: 42, Reason: "p50 12ms below 20ms",
		Done: done,
	}
}

func TestEnd(t *testing.T) {
	for want, all := range map[string][]Figures{
		"in about 44 s":                                {at(0, 1000, 0), at(10, 900, 100), at(20, 692, 400), at(30, 600, 500), at(31, 590, 510)},
		"in about 1 h 23 min":                          {at(0, 5001, 0), at(1, 5000, 1)},
		"in about 4 days":                              {at(0, 400_001, 0), at(1, 400_000, 1)},
		"in about 2 min 5 s":                           {at(0, 126, 0), at(1, 125, 1)},
		"not known yet: no attempt has ended lately":   {at(0, 600, 0)},
		"not in sight: the backlog grows by 1.5/s":     {at(0, 600, 0), at(2, 603, 50)},
		"not in sight: the backlog grows by 1,600/s":   {at(0, 600, 0), at(2, 3800, 50)},
		"not in sight: the backlog does not fall":      {at(0, 600, 0), at(2, 600, 1)},
		"what runs is all":                             {at(0, 0, 0)},
		"nothing to do":                                {{At: time.Now()}},
		"stopped":                                      {{At: time.Now(), Stopping: true, Backlog: pool.Depth{Count: 7}}},
		"when what runs has ended: no more is claimed": {{At: time.Now(), Stopping: true, Running: 1}},
		"not known":                                    {{At: time.Now(), Fault: errors.New("no server")}},
	} {
		var c course
		for _, f := range all {
			c.add(f)
		}
		if got := c.end(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestLines(t *testing.T) {
	var out, notes bytes.Buffer
	v := Lines(&out, &notes)
	for i := range 13 {
		v.Show(at(i, int64(12_345-100*i), uint64(100*i)))
	}
	f := at(13, 0, 1300)
	f.Backlog, f.Fault = pool.Depth{}, errors.New("no server")
	v.Note(f.At, "job 7, attempt 2, exit status 1")
	v.Show(f)
	v.Close()
	const want = `12:00:00Z backlog 12,345; running 38 of 42 (p50 12ms below 20ms); 0.0/s; done 0, failed 0, dead letters 0; end not known yet: no attempt has ended lately
12:00:10Z backlog 11,345; running 38 of 42 (p50 12ms below 20ms); 100/s; done 1,000, failed 0, dead letters 0; end in about 1 min 53 s
12:00:13Z backlog not known: no server; running 38 of 42 (p50 12ms below 20ms); 100/s; done 1,300, failed 0, dead letters 0; end not known
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
	if want := "12:00:13Z job 7, attempt 2, exit status 1\n"; notes.String() != want {
		t.Errorf("notes %q, want %q", &notes, want)
	}
}
