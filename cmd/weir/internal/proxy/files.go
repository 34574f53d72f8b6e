package proxy

import (
	"slices"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

// ownFiles is the number of files for the log and the state, besides the connections of operators.
const ownFiles = 32

// withinFiles lowers the caps on connections to half of the files that the process may open: each
// connection needs two files, one for the client and one for the upstream. Without a file for the
// upstream, the proxy would take clients and answer them with errors.
func (p *Proxy) withinFiles(listeners []config.Listener) []config.Listener {
	var wanted uint64
	for _, l := range listeners {
		wanted += uint64(l.MaxConnections)
	}
	files := openFiles()
	own := uint64(ownFiles + operatorConnections*len(p.operators))
	room := (max(files, own) - own) / 2
	if wanted <= room {
		p.lowered = 0
		return listeners
	}
	if p.lowered != wanted {
		p.lowered = wanted
		p.log.Warn("max_connections is lowered: want more open files for this process, such as by ulimit -n",
			"files", files, "max_connections", wanted, "lowered_to", room)
	}
	lowered := slices.Clone(listeners)
	for i := range lowered {
		part := uint64(lowered[i].MaxConnections) * room / wanted
		lowered[i].MaxConnections = int(max(part, 1))
	}
	return lowered
}
