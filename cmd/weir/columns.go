package main

import (
	"fmt"
	"io"

	"github.com/alecthomas/kong"
)

// A section explains the columns of a table.
type section struct {
	title   string
	columns []definition
}

const aboutOracle = `The oracle is the best of 40 constant limits for each phase of a scenario, with
the same requests. Good is what was answered without error and within the SLO.
Figures of several seeds are their means. Columns that do not fit into the
terminal, or elsewhere into 80 columns, follow below the others.
`

var columns = []section{
	{"weir sim run, suite and trace: a line for each scenario and law", explanations(cellColumns)},
	{"weir sim suite: a line for each law, and with --regimes for each regime and law", explanations(summaryColumns)},
	{"weir sim run and trace with --every: a line for each moment", explanations(momentColumns)},
	{"weir sim trace with --choose: a line for each law, the best first", explanations(choiceColumns)},
	{"weir sim tune: a line for each setting of the law, the best first", tuningExplanations()},
	{"weir sim run, suite and trace with --csv or --json, where shares are of 1", []definition{
		{"scenario, law, seed", "which simulation"},
		{"regime", "the kind of systems"},
		{"goodput_pct", "goodput %"},
		{"phase_goodput_pct", "phases %"},
		{"goodput_uncapped_pct", "uncapped %"},
		{"p99_ratio", "p99x"},
		{"convergence_s", "conv s"},
		{"limit_mean, limit_cv", "limit and cv"},
		{"refused, false_refused", "refused % and false %, as shares"},
		{"refused_probing", "the share that was refused while the law had lowered the limit to measure"},
		{"late", "late %, as a share"},
		{"start_phases", "how many phases are the start"},
		{"start_goodput_pct", "start %"},
		{"jain", "jain"},
		{"harm", "JSON: what was good in each phase, and what could be without a limit and with a fixed 20"},
		{"phase_good, phase_good_unlimited, phase_good_fixed20", "CSV: the same"},
	}},
	{"weir sim suite --summary and weir sim tune with --csv or --json", []definition{
		{"law, scenarios, regime", "as in the table; the regime is empty for all"},
		{"goodput_pct", "mean %"},
		{"goodput_interval", "95% interval"},
		{"goodput_uncapped_pct", "uncapped %"},
		{"p10_pct, worst_pct, worst_phase_pct", "p10, worst and worst phase"},
		{"worst_seed_over_mean", "worst seed/mean"},
		{"p99_ratio, convergence_s, limit_cv", "p99x median, conv s and cv"},
		{"false_refused, refused_probing, late", "shares, as above"},
		{"margin, margin_interval", "over the first, in two parts"},
		{"harm_p1_pct, harm_worst_pct, harmless", "harm: p1 %, worst %, and 97% kept in % as a share"},
		{"start_goodput_pct, start_harm_worst_pct", "start mean % and start worst %"},
		{"jain, jain_worst", "jain and worst jain"},
		{"seed, seeds", "of weir sim tune: the first seed, and how many"},
		{"held_out", "of weir sim tune: true on seeds that the search did not see"},
	}},
	{"weir sim run and trace with --every and --csv or --json: rates are a second", []definition{
		{"scenario, law, seed", "which simulation"},
		{"at_s", "seconds since the start"},
		{"limit, in_flight, queued", "as in the table"},
		{"p95_s, p99_s", "of the latency of answers, in seconds"},
		{"arrived", "requests, also those that are sent again"},
		{"admitted, refused", "how many of them were"},
		{"throughput", "answers without error"},
		{"good", "of which within the SLO"},
	}},
	{"weir proxy on a terminal, and the demonstrations: a line a second", []definition{
		{"time, s", "when; in the demonstrations the seconds since the start"},
		{"speed, route", "of the demonstrations: how fast the servers are, and which route"},
		{"limit", "the limit now"},
		{"infl", "requests in flight now"},
		{"queue", "requests that wait now"},
		{"p95", "of the latency of requests, in the window that the law sees"},
		{"adm/s, ref/s", "requests that were admitted and refused in the last second"},
		{"none, fixed, adapt", "of weir demo: answers in time in the last second, without a limit, with a fixed one and with an adaptive one"},
		{"with, without", "of weir demo bulkhead: answers in time in the last second, with the bulkhead and without"},
		{"last change of the limit", "the new limit and why"},
	}},
	{"weir demo and weir demo bulkhead: the table at the end", []definition{
		{"overall", "answers in time, a second; of weir demo bulkhead in percent of the requests"},
		{"full, slow", "of weir demo: the same while the servers have their full speed, or 30% of it"},
		{"well, burst", "of weir demo bulkhead: the same between bursts of the slow route, and in them"},
		{"p99 served", "the p99 of the latency of what was answered, in time or late"},
		{"refused", "requests that were told at once to come back later"},
		{"late", "requests that were answered after the deadline, or that the client gave up on"},
		{"failed", "all others"},
		{"possible", "a line: what a server could do that wastes nothing"},
		{"too busy", "a line: the timers of the clients were so late on average that the servers were 5% slower or more"},
	}},
	{"weir demo capacity: the table at the end", []definition{
		{"size", "how many jobs may run at once: adaptive, or fixed"},
		{"ended", "when the last job ended"},
		{"slots held", "slots times how long the pool had them"},
		{"of these, unused", "those in which no job ran"},
	}},
}

func printColumns(out io.Writer, _ *kong.Node) {
	fmt.Fprint(out, aboutOracle)
	for _, s := range columns {
		fmt.Fprintf(out, "\n%s\n\n", s.title)
		define(out, s.columns)
	}
}

// tuningExplanations refer to those of weir sim suite.
func tuningExplanations() []definition {
	list := []definition{{"law", "the law with the setting"}, {"mean %", "these columns are those of weir sim suite"}}
	for _, c := range summaryColumns {
		if c.in&byTuning != 0 || c.in == 0 && c.head != "law" && c.head != "mean %" {
			list = append(list, definition{c.head, "see mean %"})
		}
	}
	return list
}
