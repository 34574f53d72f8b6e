package rpc

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/edge"
)

// A Chooser names the admitter of a method, such as "/pkg.Service/Method"; nil exempts it.
type Chooser = func(fullMethod string) weir.Admitter

// One names the same admitter for every method. It panics if the admitter is nil.
func One(admitter weir.Admitter) Chooser {
	if edge.IsExempt(admitter) {
		panic("weir: One: admitter is nil: want a limiter, or an admitter of your own")
	}
	return func(string) weir.Admitter { return admitter }
}

// ByMethod names the compartment of the set that has the method as its key.
func ByMethod(set *bulkhead.Set) Chooser {
	if set == nil {
		panic("weir: ByMethod: set is nil: want one of bulkhead.New, whose error says why there is none")
	}
	return func(fullMethod string) weir.Admitter {
		handle, _ := set.Handle(fullMethod) // nil refuses a method that is too long, as a bad key
		return handle
	}
}

// Exempt exempts the named methods or whole services.
func Exempt(choose Chooser, names ...string) Chooser {
	mustChoose(choose)
	names = slices.Clone(names)
	return func(fullMethod string) weir.Admitter {
		service, _, _ := strings.Cut(strings.TrimPrefix(fullMethod, "/"), "/")
		if slices.Contains(names, fullMethod) || slices.Contains(names, service) {
			return nil
		}
		return choose(fullMethod)
	}
}

// mostMethods bounds the memory of Methods. A server has tens of methods; a client that
// forwards any request may see any number.
const mostMethods = 1000

// Methods remembers the admitter of each method. Do not remember a peer's method before
// something has shown that it exists.
type Methods struct {
	choose Chooser
	known  atomic.Pointer[map[string]weir.Admitter] // replaced as a whole
	adding sync.Mutex
}

// NewMethods returns methods with the admitters that choose names.
func NewMethods(choose Chooser) *Methods {
	mustChoose(choose)
	m := &Methods{choose: choose}
	m.known.Store(&map[string]weir.Admitter{})
	return m
}

func mustChoose(choose Chooser) {
	if choose == nil {
		panic("weir: the function that names the admitter of a method is nil: want one, such as One(limiter)")
	}
}

// Of returns the admitter of a method that exists, nil if the method is exempt.
func (m *Methods) Of(method string) weir.Admitter {
	if admitter, ok := (*m.known.Load())[method]; ok {
		return admitter
	}
	admitter := m.Invented(method)
	m.adding.Lock()
	defer m.adding.Unlock()
	if known := *m.known.Load(); len(known) < mostMethods {
		known = maps.Clone(known)
		known[strings.Clone(method)] = admitter
		m.known.Store(&known)
	}
	return admitter
}

// Invented returns the admitter of a method known only from a peer, and does not remember it.
func (m *Methods) Invented(method string) weir.Admitter {
	if admitter := m.choose(method); !edge.IsExempt(admitter) {
		return admitter
	}
	return nil
}

// Known returns the admitter of a method that Of has remembered, otherwise nil.
func (m *Methods) Known(method string) weir.Admitter { return (*m.known.Load())[method] }
