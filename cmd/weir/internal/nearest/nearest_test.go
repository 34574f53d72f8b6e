package nearest

import "testing"

func TestTo(t *testing.T) {
	known := []string{"address", "addresses", "law", "min", "max"}
	for name, want := range map[string]string{
		"addrezs": "address", "adresss": "address", "mix": "min", "lwa": "", "laws": "law",
		"": "", "x": "", "nothing": "", "adrss": "address", "addrsss": "address", "dares": "",
	} {
		if got := To(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
