package uverbs

import "fmt"

// AllocParentDomain makes another protection domain of the same kind as pd: what
// is created on either works with what is created on the other, because both are
// one to the kernel. In C a parent domain carries a thread domain, which tells the
// driver to give the queues of one thread doorbells and locks of their own, and
// functions that allocate memory for rings. Drivers here have one doorbell per
// queue as it is, locks that only those who share a queue meet, and rings that
// the kernel allocates, so that nothing is left to be said.
//
// What remains is ownership: pd cannot be closed before the parent domain, which
// cannot be closed before what was created on it, and the error names those. That
// lets parts of a program share a domain and each be sure to leave nothing in it.
func (pd *PD) AllocParentDomain() (*PD, error) {
	p := &PD{c: pd.c, handle: pd.handle, shared: true}
	name := fmt.Sprintf("parent domain of %s", pd.life.name)
	if err := p.life.begin(pd.c.dev.Name, name, &pd.life); err != nil {
		return nil, err
	}
	return p, nil
}
