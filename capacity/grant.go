package capacity

// A Grant holds the resources of one piece of work. It is a small value and may be copied: only the
// first Release of all copies gives it back. The zero Grant holds no resources.
type Grant struct {
	request *Request
	page    uint32
	number  uint64
}

// TryAcquire takes all resources of the request in one step, if they are free and no reservation
// waits for them. Otherwise it takes nothing and returns a [*ShortageError]. It does not allocate
// unless it refuses.
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

// try takes the resources unless a reservation other than leave waits.
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

// Release gives the grant back. Waiters get its resources before Release returns. Another Release
// does nothing.
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

// giveBack gives back all resources except the resources of quotas.
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
