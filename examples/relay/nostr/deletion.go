package nostr

// Deletions returns what a deletion (NIP-09) names in its e and a tags: the events, of which only
// those of its author are meant, and the addresses, which are only those of its author. What is not
// well-formed is left out.
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
