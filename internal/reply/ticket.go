package reply

// A Ticket represents one piece of admitted work, which is out until it is given back. Copies
// are for the same work. The zero Ticket is back.
type Ticket struct {
	Record     *Record
	Generation uint64
}

// Out returns the record of work that is out, nil once it is back. It needs the lock of the node.
func (t Ticket) Out() *Record {
	if t.Record == nil || t.Record.Generation != t.Generation {
		return nil
	}
	return t.Record
}

// A Record is the node's side of a piece of work. Another piece of work uses the record once the
// work is done.
type Record struct {
	Generation uint64  // how often it was given back
	Next       *Record // in the free list
	Start      int64   // when the work was dispatched
	Weight     int32   // the slots that it takes
	Tenant     uint16  // the index of its tenant
	Marks      Marks
}

// Marks are a node's notes on work.
type Marks uint8

// A record may have these marks.
const (
	Virtually Marks = 1 << iota // virtual work has run since the same moment
	Measured                    // the outcome was recorded, and the work only holds its slots
	Tenanted                    // the work counts among the work of its tenant
)

// Has reports whether the work has the mark.
func (r *Record) Has(m Marks) bool { return r.Marks&m != 0 }

// Ticket returns the ticket of the work.
func (r *Record) Ticket() Ticket { return Ticket{r, r.Generation} }
