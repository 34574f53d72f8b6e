package law

import (
	"testing"
	"unsafe"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pid"
)

// A process may hold a hundred thousand limiters with the same settings.
func TestBandControllersShareTheirSettings(t *testing.T) {
	if size := unsafe.Sizeof(bandController{}); size > 8 {
		t.Errorf("a controller takes %d bytes, want at most 8", size)
	}
	start := func(b Band) *bandController {
		c := must.Have(b.Controller(Bounds{}))(t)
		return c.(*bandController)
	}
	one, other := start(Band{}), start(Band{Step: bandStep})
	if one.settings != other.settings {
		t.Error("equal settings are held twice")
	}
	if other.Retune(Band{Step: 2}); one.settings == other.settings {
		t.Error("retuning one retuned the other")
	}
}

// The other laws keep their settings and a few numbers.
func TestControllerSizes(t *testing.T) {
	for name, test := range map[string]struct{ size, most uintptr }{
		"aimd":      {unsafe.Sizeof(aimdController{}), 48},
		"gradient":  {unsafe.Sizeof(gradientController{}), 96},
		"gradient2": {unsafe.Sizeof(gradient2Controller{}), 80},
		"vegas":     {unsafe.Sizeof(vegasController{}), 64},
		"little":    {unsafe.Sizeof(littleController{}), 112},
		"pid":       {unsafe.Sizeof(pidController{}) + unsafe.Sizeof(pid.Controller{}), 304},

		"setpoint":                     {unsafe.Sizeof(setpointController{}), 120},
		"setpoint's limit was reached": {unsafe.Sizeof(regulator{}), 320},
	} {
		if test.size > test.most {
			t.Errorf("%s: %d bytes, want at most %d", name, test.size, test.most)
		}
	}
}
