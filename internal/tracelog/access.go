package tracelog

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A template is the format of an access log: names, and the texts between them.
type template struct {
	names []string
	texts []string // before each of the names, and after the last
}

// accessLogs are the common formats of servers.
var accessLogs = map[string]string{
	"common": `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent`,
	"combined": `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent ` +
		`"$http_referer" "$http_user_agent"`,
}

// inAccessLog matches a date of an access log.
var inAccessLog = regexp.MustCompile(`\[\d\d/\w{3}/\d{4}:`)

// variable matches a name in a format.
var variable = regexp.MustCompile(`\$(?:(\w+)|\{(\w+)\})`)

// parseTemplate parses a format of nginx, which may begin with the name of a common format.
func parseTemplate(format string) (t template, problem string) {
	known, more, _ := strings.Cut(format, " ")
	left := format
	if long, ok := accessLogs[known]; ok {
		left = strings.TrimRight(long+" "+more, " ")
	}
	t.texts = variable.Split(left, -1)
	for _, found := range variable.FindAllStringSubmatch(left, -1) {
		t.names = append(t.names, found[1]+found[2])
	}
	if strings.Contains(strings.Join(t.texts, ""), "$") {
		return t, fmt.Sprintf("is %q: want a name after each $, as in $status or ${status}", format)
	}
	if len(t.names) == 0 {
		return t, fmt.Sprintf("is %q: want csv, json, common, combined, or the log_format of the server, "+
			"such as 'combined $request_time'", format)
	}
	if i := slices.Index(t.texts[1:max(1, len(t.texts)-1)], ""); i >= 0 {
		return t, fmt.Sprintf("has nothing between $%s and $%s: want a text there, as it cannot be told where one ends",
			t.names[i], t.names[i+1])
	}
	return t, ""
}

func (t template) cut(line string) (cells []string, problem string) {
	rest, ok := strings.CutPrefix(line, strings.TrimLeft(t.texts[0], " "))
	for i, name := range t.names {
		text := t.texts[i+1]
		end := len(rest)
		if text != "" {
			end = indexOf(rest, text)
		}
		if !ok || end < 0 {
			return nil, fmt.Sprintf("has no %q after $%s: want the format of the log", text, name)
		}
		cells, rest = append(cells, rest[:end]), rest[end+len(text):]
	}
	if rest != "" {
		return nil, fmt.Sprintf(
			"goes on with %q: want the whole format of the log, as in 'combined $request_time'", shortened(rest))
	}
	return cells, ""
}
