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

func TestAdvice(t *testing.T) {
	for _, test := range []struct {
		name, want string
		known      []string
	}{
		{"mix", "did you mean min?", []string{"law", "min"}},
		{"other", "want law, min or max", []string{"law", "min", "max"}},
		{"other", "want law", []string{"law"}},
	} {
		if got := Advice(test.name, test.known); got != test.want {
			t.Errorf("%s among %v: %q, want %q", test.name, test.known, got, test.want)
		}
	}
}
