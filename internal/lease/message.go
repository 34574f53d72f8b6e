package lease

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/weir-go/weir/law"
)

// A fleet has these keys. They are all below AllKeys, which an allocator watches, so that it does
// not see other entries of the store.
const (
	AllKeys     = "lease"
	LeaderKey   = AllKeys + ".leader"
	WantPrefix  = AllKeys + ".want."
	GrantPrefix = AllKeys + ".grant."
)

// An Epoch is one term of one allocator. Later epochs win; the zero Epoch is before all epochs.
type Epoch struct {
	N  uint64 `json:"n"`  // above the N of all epochs that the allocator had seen
	ID string `json:"id"` // the allocator, so that no two epochs are equal
}

// Before reports whether the epoch is earlier than another epoch.
func (e Epoch) Before(other Epoch) bool {
	return cmp.Or(cmp.Compare(e.N, other.N), cmp.Compare(e.ID, other.ID)) < 0
}

// A Leader is the value of [LeaderKey].
type Leader struct {
	Epoch Epoch         `json:"epoch"`
	Sent  time.Duration `json:"sent"`  // when the leader sent this, by its clock
	Blind time.Duration `json:"blind"` // how long no member may be raised, because a past is unknown
}

// A Want is the state of a member, for the allocator.
type Want struct {
	Epoch   Epoch         `json:"epoch"`   // the latest known epoch: it accepts no earlier grants
	Applied uint64        `json:"applied"` // the number of the last grant of that epoch that it applied, or 0
	Settled bool          `json:"settled"` // whether it ever applied a grant
	Sent    time.Duration `json:"sent"`    // when it was sent, by the member's clock
	Cap     int           `json:"cap"`     // the cap of the fleet by the member's configuration
	Weight  float64       `json:"weight"`  // for max-min fairness
	Need    int           `json:"need"`    // slots that it could use
	Held    int           `json:"held"`    // its share now
	Running int           `json:"running"` // slots in use, which may be above Held after a decrease
	Keep    int           `json:"keep"`    // the share that it falls back to
	Refuse  bool          `json:"refuse"`  // whether it falls back to 0
	Leaving bool          `json:"leaving"` // whether this is its last want, with no slots held or in use

	Report *law.Report `json:"report,omitempty"` // of its law, if there is a new one
}

// A Grant gives a member a share for a time.
type Grant struct {
	Epoch   Epoch         `json:"epoch"`
	Number  uint64        `json:"number"`  // counts the grants of an epoch
	Answers time.Duration `json:"answers"` // Want.Sent of the want that it answers
	TTL     time.Duration `json:"ttl"`     // how long the grant lasts, from Answers on
	Share   int           `json:"share"`
	Keep    int           `json:"keep"`    // the share to fall back to
	Members int           `json:"members"` // the members that the allocator heard of within a TTL

	Advice *law.Advice   `json:"advice,omitempty"` // for its law
	About  time.Duration `json:"about,omitempty"`  // Want.Sent of the report that the advice is about, 0 if none
}

// MostSlots bounds caps and shares, as a limiter bounds its own.
const MostSlots = 1_000_000_000

// longestValue bounds the size of a value. The longest message, with an id of 64 bytes, has half of
// that size.
const longestValue = 1024

// encode returns a message as JSON.
func encode(message any) []byte {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err) // no message has a value that JSON cannot say: Config.Weight is finite
	}
	return text
}

// decode reads and checks a message that another process wrote.
func decode[M interface{ check() error }](text []byte) (message M, err error) {
	if len(text) > longestValue {
		return message, fmt.Errorf("it has %d bytes: want at most %d", len(text), longestValue)
	}
	if err := json.Unmarshal(text, &message); err != nil {
		return message, err
	}
	return message, message.check()
}

func (l Leader) check() error {
	if l.Blind < 0 || l.Blind > 24*time.Hour {
		return fmt.Errorf("it raises nobody for %v: want 0 to 24h", l.Blind)
	}
	return l.Epoch.check()
}

func (w Want) check() error {
	if !(w.Weight > 0 && w.Weight <= math.MaxInt32) {
		return fmt.Errorf("its weight is %v: want above 0", w.Weight)
	}
	if w.Report != nil && !w.Report.Valid() {
		return fmt.Errorf("its report is %+v: want numbers from 0 to %d", *w.Report, math.MaxInt32)
	}
	return cmp.Or(w.Epoch.check(), slots(w.Cap, w.Need, w.Held, w.Running, w.Keep))
}

func (g Grant) check() error {
	if g.TTL <= 0 || g.TTL > time.Hour {
		return fmt.Errorf("its TTL is %v: want up to 1h", g.TTL)
	}
	if g.Advice != nil && !g.Advice.Valid() {
		return fmt.Errorf("its advice is %+v: want numbers from 0 to %d", *g.Advice, math.MaxInt32)
	}
	return cmp.Or(g.Epoch.check(), slots(g.Share, g.Keep, g.Members))
}

// check bounds the epochs that a foreign leader can force on the members, which count on from its
// epoch.
func (e Epoch) check() error {
	if e.N >= 1<<62 {
		return fmt.Errorf("its epoch is %d: want below 2^62", e.N)
	}
	return nil
}

func slots(values ...int) error {
	for _, v := range values {
		if v < 0 || v > MostSlots {
			return fmt.Errorf("it has %d slots: want 0 to %d", v, MostSlots)
		}
	}
	return nil
}

// kind returns the prefix of a key, which names the type of its message, and the id of the member.
func kind(key string) (prefix, id string) {
	for _, prefix := range []string{WantPrefix, GrantPrefix} {
		if id, ok := strings.CutPrefix(key, prefix); ok {
			return prefix, id
		}
	}
	return key, ""
}
