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
	{"weir sim run, suite and trace: a line for each scenario and law", []definition{
		{"scenario", "its name"},
		{"law", "the law, with the settings that it was given"},
		{"goodput %", "what was good, in percent of the oracle's, at most 100, after the start"},
		{"uncapped %", "the same where it may be above 100, as a queue may do better than the oracle, which has none"},
		{"worst seed", "goodput % of the worst seed"},
		{"phases %", "goodput % of each phase"},
		{"p99x", "the p99 of the latency of answers, over the oracle's"},
		{"conv s", "seconds from the beginning of a phase until 90% of the oracle's goodput is held for 3 s; of the worst phase"},
		{"limit", "mean limit in the latter half of each phase"},
		{"cv", "its coefficient of variation there: how restless it is"},
		{"refused %", "requests that were refused, of all"},
		{"false %", "requests that were refused while the oracle had room for all"},
		{"late %", "answers that came after the SLO"},
		{"jain", "with several limiters, how fair they are to one another: 1 if each gets its part"},
		{"harm: share %", "of what no limit or a fixed 20, whichever is better, has good, in the worst phase after the start"},
		{"start %", "goodput % of the start"},
		{"start share %", "harm: share % of the start"},
	}},
	{"weir sim suite: a line for each law, and with --regimes for each regime and law", []definition{
		{"regime", "the kind of systems"},
		{"law", "the law"},
		{"scenarios", "how many there are"},
		{"mean %", "goodput % over all scenarios"},
		{"95% interval", "half of it: the mean is within so much with 95% confidence"},
		{"uncapped %", "the mean of uncapped %"},
		{"p10", "goodput % of the scenario below which a tenth of them are"},
		{"worst", "goodput % of the worst scenario"},
		{"worst phase", "goodput % of the worst phase, the mean over scenarios"},
		{"worst seed/mean", "worst seed over goodput %, in the scenario where that is least"},
		{"p99x median", "the median of p99x"},
		{"conv s", "the mean of conv s above, as are cv, false %, late % and jain"},
		{"cv", "see conv s"},
		{"false %", "see conv s"},
		{"late %", "see conv s"},
		{"jain", "see conv s"},
		{"worst jain", "of the worst scenario"},
		{"harm: p1 %", "harm: share % of the scenario below which a hundredth of them are"},
		{"worst %", "harm: share % of the worst scenario"},
		{"harm: worst %", "the same, for a regime"},
		{"97% kept in %", "of the scenarios, harm: share % is 97 or more"},
		{"start mean %", "the mean of start %"},
		{"start worst %", "the least start share %"},
		{"over the first", "goodput % above that of the first law, scenario by scenario, and half of its 95% interval"},
	}},
	{"weir sim run and trace with --every: a line for each moment", []definition{
		{"time s", "seconds since the start"},
		{"limit", "the limit, of all limiters together"},
		{"in flight", "requests that were admitted and are not answered"},
		{"queued", "requests that wait for a slot"},
		{"p95 ms", "the p95 of the latency of answers, since the line above"},
		{"admitted/s", "requests that were admitted a second, since the line above"},
		{"refused/s", "requests that were refused a second, since the line above"},
	}},
	{"weir sim trace with --choose: a line for each law, the best first", []definition{
		{"goodput %", "the law, and below the names of up to 6 scenarios, which come last, its goodput % in each"},
		{"mean", "goodput % over all scenarios"},
		{"worst", "goodput % of the worst"},
		{"over the default", "goodput % above that of the default law, and half of its 95% interval"},
		{"p99x", "the median of p99x"},
		{"false %", "requests that were refused while the oracle had room for all"},
		{"late %", "answers that came after the SLO"},
	}},
	{"weir sim tune: a line for each setting of the law, the best first", []definition{
		{"law", "the law with the setting"},
		{"mean %", "these columns are those of weir sim suite"},
		{"worst", "see mean %"},
		{"worst phase", "see mean %"},
		{"p99x median", "see mean %"},
		{"conv s", "see mean %"},
		{"cv", "see mean %"},
		{"false %", "see mean %"},
		{"late %", "see mean %"},
	}},
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
