package capacity

// A Grant is the resources of one piece of work. It is a small value and may be
// copied: it is given back once, however often and from wherever that is tried. The
// zero Grant is one of nothing.
type Grant struct {
	request *Request
	page    uint32
	number  uint64
}

// TryAcquire takes all that is needed if it is free and no reservation waits for it, in one
// step. Otherwise it takes nothing and returns a [*ShortageError]. It does not
// allocate unless it refuses.
func (c *Capacity) TryAcquire(req *Request) (Grant, error) {
	if err := c.checked(req); err != nil {
		return Grant{}, err
	}
	c.mu.Lock()
	g, err := c.try(req, nil)
	c.mu.Unlock()
	if err != nil {
		return Grant{}, err
	}
	return g, nil
}

// try takes the resources unless somebody else than leave waits.
func (c *Capacity) try(req *Request, leave *reservation) (Grant, *ShortageError) {
	c.refill()
	if err := req.refused(leave); err != nil {
		return Grant{}, err
	}
	return c.take(req), nil
}

// take enters the grant of a request that fits.
func (c *Capacity) take(req *Request) Grant {
	for i := range req.amounts {
		req.amounts[i].used += req.amounts[i].units
	}
	page, number := c.ledger.enter()
	return Grant{req, page, number}
}

// Release gives the grant back. A waiter gets it before Release
// returns. Releasing again does nothing.
func (g Grant) Release() {
	if g.request == nil {
		return
	}
	c := g.request.of
	c.mu.Lock()
	if c.ledger.strike(g.page, g.number) {
		g.request.giveBack()
		if c.waiting > 0 {
			c.settle()
		}
	}
	c.mu.Unlock()
}

// giveBack gives back all but the resources of quotas.
func (req *Request) giveBack() {
	for i := range req.amounts {
		if a := &req.amounts[i]; req.of.path[a.level].quota == nil {
			a.used -= a.units
		}
	}
}

// A ledger knows which grants are out. A page is used again and again, with the next
// number each time, so a copy of a grant that came back gives nothing back.
type ledger struct {
	numbers []uint64 // by page; odd while a grant is out
	blank   []uint32 // pages to use again
}

func (l *ledger) enter() (page uint32, number uint64) {
	if n := len(l.blank); n > 0 {
		page, l.blank = l.blank[n-1], l.blank[:n-1]
	} else {
		page = uint32(len(l.numbers))
		l.numbers = append(l.numbers, 0)
	}
	l.numbers[page]++
	return page, l.numbers[page]
}

func (l *ledger) strike(page uint32, number uint64) bool {
	if l.numbers[page] != number {
		return false
	}
	l.numbers[page]++
	l.blank = append(l.blank, page)
	return true
}

func (l *ledger) out() int { return len(l.numbers) - len(l.blank) }
