package load_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/load"
)

func TestConfigIsChecked(t *testing.T) {
	a := &script{name: "a"}
	feed := func(f load.Feed) load.Config {
		f.Source = a
		return load.Config{Feeds: []load.Feed{f}}
	}
	with := func(change func(*load.Config)) load.Config {
		c := feed(load.Feed{})
		change(&c)
		return c
	}
	for _, c := range []struct {
		conf load.Config
		want string
	}{
		{load.Config{}, "Feeds is empty"},
		{load.Config{Feeds: []load.Feed{{}}}, "Feeds[0].Source"},
		{load.Config{Feeds: []load.Feed{{Source: a}, {Source: a}}}, `Feeds[1] is named "a"`},
		{with(func(c *load.Config) { c.Interval = -1 }), "Interval"},
		{with(func(c *load.Config) { c.Timeout = -1 }), "Timeout"},
		{with(func(c *load.Config) { c.MaxAge = -1 }), "MaxAge"},
		{feed(load.Feed{Interval: -1}), "Feeds[0].Interval"},
		{feed(load.Feed{Timeout: -1}), "Feeds[0].Timeout"},
		{feed(load.Feed{MaxAge: -1}), "Feeds[0].MaxAge"},
		{feed(load.Feed{MaxAge: time.Millisecond}), "at least its Interval"},
	} {
		if _, err := load.New(c.conf); !errors.Is(err, load.ErrConfig) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.conf, err, c.want)
		}
	}
}
