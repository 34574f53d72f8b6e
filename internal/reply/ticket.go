package reply

// A Ticket is the core's side of one piece of admitted work. It is out from admission until
// the work is done; the zero Ticket is not out.
type Ticket struct {
	Start  int64  // when the work was dispatched
	Queued int64  // how long it waited before that
	Weight int32  // the slots that it takes
	Tenant uint16 // the hash of its tenant
	Stamp  uint8  // the shuffle of tenants by which it was counted, 0 without tenants
	Is     Whereabouts
}

// Whereabouts are those of a ticket.
type Whereabouts uint8

// Where a ticket is.
const (
	Back         Whereabouts = iota
	Out                      // its work runs
	OutVirtually             // and so does its virtual work, since the same moment
)

// Waited returns how long the work queued, in nanoseconds.
func (t *Ticket) Waited() int64 { return t.Queued }
