package law

// A Form is the text form of a law, for [Parse].
type Form struct {
	Name     string    // the start of the text
	Settings []Setting // in the order in which String writes them
}

// A Setting is one of the settings in the text of a law.
type Setting struct {
	Name    string // as in name=value
	Default string // the value if it is left out; empty if there is no default
	Allowed string // in words, such as "0 to less than 1"
}

// Forms lists the laws that [Parse] knows, with their settings, in an order that does not change.
// The list is the caller's own.
func Forms() []Form {
	forms := make([]Form, len(kinds))
	for i, k := range kinds {
		forms[i].Name = k.name
		for _, s := range k.form.settings {
			preset, allowed := s.describe()
			forms[i].Settings = append(forms[i].Settings, Setting{s.name, preset, allowed})
		}
	}
	return forms
}
