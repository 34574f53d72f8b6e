package nostr

// Deletions returns the events and addresses that a deletion (NIP-09) names in its e and a
// tags. The caller must ignore events of other authors; the addresses are all of the
// deletion's author. Malformed tags are skipped.
func (e *Event) Deletions() (ids []ID, addresses []Address) {
	for _, tag := range e.Tags {
		switch tag.Name() {
		case "e":
			var id ID
			if decodeHex(id[:], tag.Value()) {
				ids = append(ids, id)
			}
		case "a":
			if address, ok := ParseAddress(tag.Value()); ok && address.PubKey == e.PubKey {
				addresses = append(addresses, address)
			}
		}
	}
	return ids, addresses
}
