package admit

import "github.com/weir-go/weir/internal/reply"

// records is the free list of records, last in, first out. In place of a weight each record holds
// the length of the list from itself on: a count beside the list would put a limiter into the next
// size class.
type records struct{ top *reply.Record }

// mostFree bounds the free list after a burst, to 2 KiB. With bursts of 100 pieces of work that all
// end before the next burst, a piece then allocates 11 bytes on average. With bursts of 1,000
// pieces it allocates 29 bytes, nearly a whole record.
const mostFree = 64

func (f *records) use(weight int, now int64) *reply.Record {
	r := f.top
	if r == nil {
		r = &reply.Record{}
	} else {
		f.top = r.Next
	}
	r.Start, r.Weight, r.Marks = now, int32(weight), 0
	return r
}

// retire invalidates all tickets of a record.
func (f *records) retire(r *reply.Record) {
	r.Generation++
	r.Next, r.Weight = f.top, 1
	if r.Next != nil {
		r.Weight += r.Next.Weight
	}
	if r.Weight <= mostFree {
		f.top = r
	} else {
		r.Next = nil
	}
}
