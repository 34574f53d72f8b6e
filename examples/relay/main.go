// Relay is a Nostr relay on Badger that stays responsive while it imports millions of events.
package main

func main() {}
