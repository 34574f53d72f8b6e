package settings_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/settings"
)

func TestComplete(t *testing.T) {
	full := settings.Limiter{
		Min: 1, Max: 100_000, Initial: 20, Interval: time.Second, Window: 10 * time.Second,
		MinSamples: 20, QueueTimeout: time.Second, Start: 20,
	}
	own := settings.Limiter{Min: 2, Max: 3, Initial: 3, Interval: 4, Window: 5, MinSamples: 6, QueueTimeout: 7}
	for given, want := range map[settings.Limiter]settings.Limiter{
		{Start: 20}: full,
		own:         own,
		{Min: 200_000, Start: 20}: {
			Min: 200_000, Max: 200_000, Initial: 200_000, Interval: full.Interval,
			Window: full.Window, MinSamples: 20, QueueTimeout: time.Second, Start: 20,
		},
		{Max: 5, Start: 20}: {
			Min: 1, Max: 5, Initial: 5, Interval: full.Interval, Window: full.Window,
			MinSamples: 20, QueueTimeout: time.Second, Start: 20,
		},
		{Interval: time.Minute, Start: 20}: {
			Min: 1, Max: 100_000, Initial: 20, Interval: time.Minute, Window: time.Minute,
			MinSamples: 20, QueueTimeout: time.Second, Start: 20,
		},
	} {
		if got := given.Complete(); got != want {
			t.Errorf("%+v:\n got %+v\nwant %+v", given, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for want, given := range map[string]settings.Limiter{
		"":                                       {},
		"min is 3: want at most max, which is 2": {Min: 3, Max: 2, Initial: 2},
		"initial is 1: want from min to max, which are 2 and 3": {Min: 2, Max: 3, Initial: 1},
		"initial is 4: want from min to max, which are 2 and 3": {Min: 2, Max: 3, Initial: 4},
		"window is 1s: want at least interval, which is 1m0s":   {Interval: time.Minute, Window: time.Second},
	} {
		sentinel := errors.New("invalid")
		got := ""
		if f := given.Complete().Check(strings.ToLower); f != nil {
			err := settings.Invalid(sentinel, f.Field, f.Value, f.Want)
			if !errors.Is(err, sentinel) {
				t.Errorf("%v does not match", err)
			}
			got = strings.TrimPrefix(err.Error(), "invalid: ")
		}
		if got != want {
			t.Errorf("%+v: %q, want %q", given, got, want)
		}
	}
}

func TestErrConfigOfEveryPackageMatches(t *testing.T) {
	err := settings.Invalid(settings.ErrConfigOf("pool"), "Workers", -1, "0 or more")
	if !errors.Is(err, settings.ErrConfigOf("pool")) || !errors.Is(err, settings.ErrConfig) ||
		errors.Is(err, settings.ErrConfigOf("load")) {
		t.Errorf("%v matches what it should not, or does not match what it should", err)
	}
}

func TestName(t *testing.T) {
	for name, ok := range map[string]bool{
		"a": true, "Mail_2-B": true, strings.Repeat("x", 64): true,
		"": false, strings.Repeat("x", 65): false, "a.b": false, "a b": false, "a*": false, "ä": false, "a\n": false, "@": false, "[": false,
	} {
		if err := settings.Name(settings.ErrConfig, "Stream", name); (err == nil) != ok || err != nil && !errors.Is(err, settings.ErrConfig) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
