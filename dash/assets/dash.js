'use strict';

let kept = 3600; // seconds of readings that the page keeps; all of a recording
const silence = 5000; // milliseconds without a message after which the connection counts as lost
const mostListed = 100; // changes in the list, and rows of the table of figures

const $ = id => document.getElementById(id);
const clock = seconds => new Date(seconds * 1000).toLocaleTimeString();

// Columns of readings, in the order of the messages; the time is in seconds.
let readings, changes, heat, belief;
const [at, limit, inFlight, queued, resting, p50, p95, arrived, completed, refused] = Array(10).keys();

function clear() {
	readings = Array.from({length: 10}, () => []);
	changes = [];
	heat = []; // columns: the time, then pairs of a cell and its count
	belief = {};
	$('changes').replaceChildren();
}

// element makes an element. What comes from the server is only ever text.
function element(tag, text, attributes = {}) {
	const e = document.createElement(tag);
	e.textContent = text;
	for (const name in attributes) e.setAttribute(name, attributes[name]);
	return e;
}

function row(name, ...values) {
	const tr = document.createElement('tr');
	tr.append(element('th', name, {scope: 'row'}), ...values.map(v => element('td', v)));
	return tr;
}

// Charts. One time axis: they share their span and their cursor.

const panels = [
	{what: 'Limit and work in flight', series: [['limit', limit, 'limit', true], ['in flight', inFlight, 'work']], marks: true, height: 200},
	{what: 'Waiting work, and slots that rest after the downstream refused their work', series: [['queued', queued, 'queue'], ['resting', resting, 'refused']], height: 90},
	{what: 'Requests a second', series: [['arrived/s', arrived, 'limit'], ['completed/s', completed, 'work'], ['refused/s', refused, 'refused']], height: 110},
	{what: 'Heat map of the latency in milliseconds', series: [['how many took how long, with the p95 in ms', p95, 'latency']], heat: true, height: 150},
	{what: 'Latency in milliseconds', series: [['p50, ms', p50, 'quiet'], ['p95, ms', p95, 'latency']], times: true, height: 150},
];
// Curves over the work in flight: means of the readings with as much of it.
const curves = [
	{what: 'Throughput over the work in flight', name: 'completed/s', column: completed, css: 'work'},
	{what: 'Median of the latency over the work in flight', name: 'p50, ms', column: p50, css: 'latency', believed: true},
];
let charts = [], curved = [];
let due = [], frame = 0; // the charts to be drawn, and the frame of the next one
// The names of a pool's series.
const ofPools = {limit: 'size', queued: 'backlog', resting: 'reserve'};
let pooled = false, heated = false;

const now = () => readings[at].at(-1) ?? Date.now() / 1000;
const span = () => Number($('span').value);
// since is the first moment of the charts: they fill up from the first reading on.
const since = () => Math.max(now() - span(), Math.min(readings[at][0] ?? now(), now() - 30));
// means groups the readings by the work in flight: rows of that, the number of readings, and the
// mean of each curve. The first reading of all has no rates yet.
function means() {
	const first = Math.max(readings[at].findIndex(t => t >= since()), 1), shown = readings[inFlight].slice(first);
	const step = Math.ceil(shown.reduce((a, b) => Math.max(a, b), 1) / mostListed), groups = new Map();
	shown.forEach((n, i) => {
		const key = Math.ceil(n / step) * step;
		if (!groups.has(key)) groups.set(key, {n: 0, sums: curves.map(() => [0, 0])});
		const group = groups.get(key);
		group.n++;
		curves.forEach((c, j) => {
			const v = readings[c.column][first + i];
			if (v != null) group.sums[j] = [group.sums[j][0] + v, group.sums[j][1] + 1];
		});
	});
	return [...groups].sort((a, b) => a[0] - b[0]).map(([key, {n, sums}]) => [key, n, ...sums.map(([sum, n]) => n ? Math.round(sum / n * 10) / 10 : null)]);
}

function colors() {
	const style = getComputedStyle(document.documentElement);
	const color = name => style.getPropertyValue('--' + name);
	return {color, axis: {stroke: color('quiet'), grid: {stroke: color('line'), width: 1}, ticks: {show: false}, size: 50}};
}

// build makes the figures of the charts, and draw the charts in them.
function build() {
	[...charts, ...curved].forEach(c => c.plot?.destroy());
	due = [];
	const {color, axis} = colors();
	const unlabelled = {...axis, values: [], size: 10};
	$('charts').replaceChildren();
	charts = panels.filter(panel => !panel.heat || heat.length).map(panel => {
		const caption = element('figcaption', '');
		const values = panel.series.map(([name, , css]) => {
			const value = element('b', '', {class: css});
			caption.append(caption.childNodes.length ? ' · ' : '', element('span', pooled && ofPools[name] || name, {class: css}), ' ', value);
			return value;
		});
		return chart('charts', panel.height, panel.what + ' over time', caption, c => {
			panel.series.forEach((s, i) => values[i].textContent = readings[s[1]].at(-1) ?? '-');
			plot(c, [readings[at], ...panel.series.map(s => readings[s[1]])], {
				cursor: {sync: {key: 'time'}, drag: {x: false, y: false}, y: false},
				scales: {
					x: {range: () => [since(), now()]},
					y: panel.heat ? {distr: 3, log: 2, range: heatRange} : {range: (_, low, high) => [0, Math.max(high * (panel.marks ? 1.3 : 1.1), 1)]},
				},
				axes: [panel.times ? axis : unlabelled, panel.heat ? {...axis, splits: doublings} : axis],
				series: [{}, ...panel.series.map(([, , css, steps]) => ({
					stroke: color(css), width: 2, points: {show: false}, spanGaps: false,
					paths: steps ? uPlot.paths.stepped({align: 1}) : undefined,
				}))],
				hooks: {
					drawClear: panel.heat ? [u => warm(u, color('queue'))] : [],
					draw: panel.marks ? [u => mark(u, color)] : [],
					setCursor: panel.marks ? [u => say(u.cursor.idx)] : [],
				},
			});
		});
	});
	let rows; // of both curves
	$('curves').replaceChildren();
	curved = curves.map(({what, name, css, believed}, i) => {
		const caption = element('figcaption', what + ': ');
		caption.append(element('b', name, {class: css}));
		return chart('curves', 200, what, caption, c => {
			if (i === 0) fillCurves(rows = means());
			plot(c, [rows.map(r => r[0]), rows.map(r => r[2 + i])], {
				cursor: {drag: {x: false, y: false}},
				scales: {
					x: {time: false, range: (_, low, high) => [0, Math.max(high, readings[limit].at(-1) ?? 0, 1) * 1.05]},
					y: {range: (_, low, high) => [0, Math.max(high * 1.1, believed && belief.target * 1.1 || 0, 1)]},
				},
				axes: [axis, axis],
				series: [{}, {stroke: color(css), width: 1, spanGaps: true, points: {show: true, size: 5, fill: color(css)}}],
				hooks: {draw: [u => {
					rule(u, 'x', readings[limit].at(-1) ?? 0, 'limit', color('limit'));
					if (believed && belief.noLoad) rule(u, 'y', belief.noLoad, 'no-load latency', color('work'));
					if (believed && belief.target) rule(u, 'y', belief.target, 'target', color('queue'), 0.5);
				}]},
			});
		});
	});
	draw();
}

// chart adds a figure with the place of a chart.
function chart(parent, height, what, caption, draw) {
	const figure = element('figure', ''), place = element('div', '', {role: 'img', 'aria-label': what});
	place.style.minHeight = height + 'px';
	figure.append(caption, place);
	$(parent).append(figure);
	return {place, height, draw};
}

// plot shows data in a chart, which has its options from the first time on.
function plot(c, data, options) {
	if (c.plot) c.plot.setData(data);
	else c.plot = new uPlot({...options, width: c.place.clientWidth, height: c.height, legend: {show: false}}, data, c.place);
}

// rule draws a value of an axis as a line across a curve. The text on a horizontal line begins after a
// share of its length: the texts of two lines that are close must not overlap.
function rule(u, axis, value, text, color, start = 0) {
	const at = u.valToPos(value, axis, true), ctx = u.ctx, {left, top, width, height} = u.bbox, gap = 4 * devicePixelRatio;
	ctx.save();
	ctx.strokeStyle = ctx.fillStyle = color;
	ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
	ctx.beginPath();
	ctx.moveTo(axis === 'x' ? at : left, axis === 'x' ? top : at);
	ctx.lineTo(axis === 'x' ? at : left + width, axis === 'x' ? top + height : at);
	ctx.stroke();
	ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
	ctx.textAlign = axis === 'x' ? 'right' : 'left';
	ctx.fillText(text, axis === 'x' ? at - gap : left + start * width + gap, axis === 'x' ? top + 3 * gap : at - gap);
	ctx.restore();
}

// The heat map: a cell n has the latencies up to upTo(n) milliseconds.

const upTo = cell => 1000 * 2 ** (cell / 2);
const heatShown = () => heat.filter(column => column[at] > since());

function heatRange() {
	let low = Infinity, high = -Infinity;
	for (const [, ...cells] of heatShown()) {
		low = Math.min(low, cells.at(0) ?? low);
		high = Math.max(high, cells.at(-2) ?? high);
	}
	return low > high ? [1, 1000] : [upTo(low - 1), upTo(high)];
}

// doublings are the labels of the heat map: at most six powers of two.
function doublings(u) {
	const first = Math.ceil(Math.log2(u.scales.y.min)), last = Math.floor(Math.log2(u.scales.y.max)), step = Math.ceil((last - first + 1) / 6), all = [];
	for (let n = first; n <= last; n += step) all.push(Number((2 ** n).toPrecision(3)));
	return all;
}

function warm(u, color) {
	const shown = heatShown(), ctx = u.ctx;
	let most = 1;
	for (const column of shown) for (let i = 2; i < column.length; i += 2) most = Math.max(most, column[i]);
	ctx.save();
	ctx.fillStyle = color;
	let before = 0; // the end of the column before
	for (const column of shown) {
		const begun = column[at] - before < 10 ? before : column[at] - 5;
		before = column[at];
		const from = u.valToPos(Math.max(begun, since()), 'x', true), to = u.valToPos(column[at], 'x', true);
		for (let i = 1; i < column.length; i += 2) {
			const top = u.valToPos(upTo(column[i]), 'y', true), bottom = u.valToPos(upTo(column[i] - 1), 'y', true);
			ctx.globalAlpha = 0.15 + 0.85 * Math.sqrt(column[i + 1] / most);
			ctx.fillRect(from, top, to - from, bottom - top);
		}
	}
	ctx.restore();
}

// mark draws a triangle for each change of the limit, up or down, and its reason where there is
// room, the newest first.
function mark(u, color) {
	const ratio = devicePixelRatio, ctx = u.ctx;
	ctx.save();
	ctx.font = `${12 * ratio}px system-ui, sans-serif`;
	ctx.textAlign = 'right';
	let free = Infinity;
	for (let i = changes.length - 1; i >= 0 && changes[i].at >= since(); i--) {
		const c = changes[i];
		const x = u.valToPos(c.at, 'x', true), y = u.valToPos(c.to, 'y', true), size = 5 * ratio * (c.up ? -1 : 1);
		ctx.fillStyle = ctx.strokeStyle = color(c.up ? 'work' : 'refused');
		ctx.beginPath();
		ctx.moveTo(x - size, y);
		ctx.lineTo(x + size, y);
		ctx.lineTo(x, y + size * 1.6);
		ctx.fill();
		const width = ctx.measureText(c.why).width;
		const end = x - 8 * ratio; // of the text
		if (end > free || end - width < u.bbox.left) continue;
		free = end - width - 8 * ratio;
		ctx.fillText(c.why, end, u.bbox.top + 12 * ratio);
		ctx.setLineDash([2 * ratio, 3 * ratio]);
		ctx.beginPath();
		ctx.moveTo(x, u.bbox.top);
		ctx.lineTo(x, y);
		ctx.stroke();
	}
	ctx.restore();
}

// say describes the moment below the cursor, with the change that made its limit.
function say(i) {
	if (i == null || readings[at][i] == null) {
		$('moment').textContent = '';
		return;
	}
	const r = readings.map(column => column[i]);
	const cause = changes.findLast(c => c.at <= r[at]);
	$('moment').textContent = `${clock(r[at])}: limit ${r[limit]}, ${r[inFlight]} in flight, ${r[queued]} queued, ` + (r[resting] ? `${r[resting]} resting, ` : '') + `p95 ${r[p95] ?? '-'} ms, ${r[refused]} refused/s` +
		(cause ? `. Since ${clock(cause.at)}: ${cause.text}` : '');
}

// draw has each chart drawn in a frame of its own, because all of them take too long for one.
function draw() {
	if (document.hidden) return;
	due.push(...[...charts, ...curved].filter(c => !due.includes(c)));
	frame ||= requestAnimationFrame(drawNext);
}

function drawNext() {
	frame = 0;
	const c = due.shift();
	c?.draw(c);
	if (due.length) frame = requestAnimationFrame(drawNext);
}

function fillCurves(rows) {
	if ($('concurrency').open) $('concurrency').querySelector('tbody').replaceChildren(...rows.map(r => row(r[0], ...r.slice(1).map(v => v ?? '-'))));
}

const listed = [limit, inFlight, resting, queued, p50, p95, arrived, completed, refused]; // columns of the table

function fillFigures() {
	if (!$('figures').open) return;
	const first = readings[at].findIndex(t => t >= since());
	const step = Math.max(1, Math.ceil((readings[at].length - first) / mostListed));
	const rows = [];
	for (let i = readings[at].length - 1; first >= 0 && i >= first; i -= step)
		rows.push(row(clock(readings[at][i]), ...listed.map(column => readings[column][i] ?? '-')));
	$('figures').querySelector('tbody').replaceChildren(...rows);
}

// Messages.

let tabled = '[]';

// others shows the tables of sources that are no limiters.
function others(tables = []) {
	const text = JSON.stringify(tables);
	if (text === tabled) return;
	tabled = text;
	$('tables').replaceChildren(...tables.map(({name, rows}) => {
		const section = document.createElement('section'), table = document.createElement('table'), body = document.createElement('tbody');
		body.append(...(rows ?? []).map(r => row(...r)));
		table.append(body);
		section.append(element('h2', name || '(no name)'), table);
		return section;
	}));
}

function overview({limiters, more, tables}) {
	others(tables);
	const body = $('limiters').tBodies[0];
	const same = body.rows.length === limiters.length && limiters.every((l, i) => body.rows[i].dataset.name === l.name);
	if (!same) body.replaceChildren(...limiters.map(l => {
		const tr = row('', '', '', '', '', '');
		tr.dataset.name = l.name;
		tr.cells[0].append(element('a', l.name || '(no name)', {href: '#' + encodeURIComponent(l.name)}));
		return tr;
	}));
	limiters.forEach((l, i) => {
		[l.limit + (l.shadow ? ' (shadow)' : ''), l.inFlight, l.queued, l.p95 || '-', l.refused].forEach((v, j) => body.rows[i].cells[j + 1].textContent = v);
	});
	pools = limiters.filter(l => l.pool).map(l => l.name);
	shadowed = limiters.filter(l => l.shadow).map(l => l.name);
	const sharing = limiters.filter(l => l.entitled);
	$('shares').hidden = !sharing.length;
	$('shares').querySelector('tbody').replaceChildren(...sharing.map(l => row(l.name || '(no name)', l.inFlight, l.reserved ?? 0, Math.round(l.entitled * 10) / 10, Math.round((l.borrowed ?? 0) * 10) / 10)));
	$('more').hidden = !more;
	$('more').textContent = `${more} more are not shown.`;
	if (shown != null && !limiters.some(l => l.name === shown)) $('decision').textContent = 'this limiter is gone';
}

let shown, pools = [], shadowed = [];

function details(d) {
	if (d.whole) {
		clear();
		refusedRequests = []; // they follow
		shown = d.name;
		$('name').textContent = d.name || '(no name)';
		$('changed').textContent = '';
		for (const tr of $('limiters').tBodies[0].rows) {
			if (tr.dataset.name === shown) tr.setAttribute('aria-current', 'true');
			else tr.removeAttribute('aria-current');
		}
	}
	for (const p of d.points) {
		p[at] /= 1000;
		p[p50] ||= null; // nothing has succeeded
		p[p95] ||= null;
		p.forEach((v, i) => readings[i].push(v));
	}
	const old = readings[at].findIndex(t => t >= now() - kept);
	if (old > 600) readings.forEach(column => column.splice(0, old)); // some at a time
	for (const column of d.heat ?? []) {
		column[at] /= 1000;
		heat.push(column);
	}
	if (heat.length && heat[0][at] < now() - kept - 600) heat = heat.filter(column => column[at] >= now() - kept);
	if (!charts.length || heated !== heat.length > 0 || pooled !== pools.includes(shown)) {
		heated = heat.length > 0;
		pooled = pools.includes(shown);
		build();
	}
	offer();
	$('decision').textContent = d.decision;
	belief = d.belief ?? {};
	$('belief').textContent = believed();
	$('refusals').tBodies[0].replaceChildren(...d.refusals.map(r => row(r.reason, r.total, Math.round(r.rate * 10) / 10)));
	$('refusals').hidden = !d.refusals.length;
	$('none').hidden = d.refusals.length > 0;
	addChanges(d.changes);
	draw();
}

// believed says what the law takes for granted, and how fresh that is.
function believed() {
	const {noLoad, at: measured, target, signal} = belief;
	return (noLoad ? `Latency without load: ${noLoad} ms` + (measured ? `, measured at ${clock(measured / 1000)}. ` : '. ') : '') +
		(target ? `Target of the ${signal}: ${target} ms.` : '');
}

function addChanges(all) {
	all.forEach(c => c.at /= 1000);
	changes = [...changes, ...all].slice(-1000);
	$('changes').prepend(...all.slice(-mostListed).reverse().map(c => {
		const item = document.createElement('li'), button = document.createElement('button');
		button.append(element('time', clock(c.at)), ' ' + c.text);
		button.onclick = () => show(c.at);
		item.append(button);
		return item;
	}));
	while ($('changes').children.length > mostListed) $('changes').lastChild.remove();
}

// show puts the cursor of the charts at a moment.
function show(time) {
	const i = readings[at].findIndex(t => t >= time);
	for (const {plot} of charts) plot?.setCursor({left: plot.valToPos(time, 'x'), top: 0}, false);
	say(i);
}

// recorded shows a recording: all of it is there at once, and nothing follows.
function recorded({from, to}) {
	kept = Infinity;
	live = `Recording from ${moment(from)} to ${moment(to)}`;
	heard = Infinity;
	$('all').hidden = $('all').disabled = false;
	$('span').value = $('all').value;
	$('when').textContent = 'at the end';
	connection(true);
}

// What takes the token.

let refusedRequests = [], may = {};

function access(rights) {
	may = rights;
	$('login').hidden = !may.login;
	offer();
	refusedRequests = [];
	listRequests();
}

// offer shows the forms that change a limiter. A pool has none.
function offer() {
	const none = shown == null || pools.includes(shown);
	$('pin').hidden = $('law').hidden = none || !may.law;
	$('shadow').hidden = none || !may.shadow;
	$('shadow').firstChild.textContent = `Turn shadow mode ${shadowed.includes(shown) ? 'off' : 'on'}`;
}

function addRequests(all) {
	refusedRequests = [...refusedRequests, ...all].slice(-256);
	listRequests();
}

function listRequests() {
	const text = $('find').value.trim();
	$('requests').hidden = !refusedRequests.length;
	$('requests').querySelector('tbody').replaceChildren(...refusedRequests
		.filter(r => [r.id, r.limiter, r.tenant ?? ''].some(field => field.includes(text)))
		.reverse().slice(0, mostListed).map(r => row(r.id || '(none)', clock(r.at / 1000), r.limiter || '(no name)', r.reason, r.tenant ?? '-')));
}

// The answers to the forms, with what they ask for.
const forms = {
	pin: form => [`Pinned at ${form.elements.limit.value}.`, {law: `fixed(${form.elements.limit.value})`}],
	law: (form, own) => own ? ['Its own law decides.', {law: ''}] : [`${form.elements.law.value} decides.`, {law: form.elements.law.value}],
	shadow: () => shadowed.includes(shown) ? ['Shadow mode is off.', {shadow: false}] : ['Shadow mode is on.', {shadow: true}],
};

async function change(event) {
	event.preventDefault();
	const limiter = shown, [done, fields] = forms[event.target.id](event.target, event.submitter?.value);
	let text;
	try {
		const answer = await fetch('change', {method: 'POST', body: new URLSearchParams({limiter, ...fields})});
		text = answer.ok ? done : await answer.text();
	} catch (error) {
		text = 'The dashboard does not answer: ' + error.message;
	}
	if (limiter === shown) $('changed').textContent = text;
}

// The connection.

let source, heard = Date.now(), live = 'Live';
const moment = ms => new Date(ms).toLocaleString();

// chosen is the name in the address, which may have been typed.
function chosen() {
	try {
		return decodeURIComponent(location.hash.slice(1));
	} catch {
		return '';
	}
}

function connect() {
	source?.close();
	heard = Date.now();
	source = new EventSource('events?limiter=' + encodeURIComponent(chosen()));
	const on = (name, take) => source.addEventListener(name, e => {
		heard = Math.max(heard, Date.now());
		connection(true);
		take(JSON.parse(e.data));
	});
	on('access', access);
	on('recording', recorded);
	on('requests', addRequests);
	on('overview', overview);
	on('details', details);
	source.onerror = () => connection(false);
}

function connection(there) {
	const text = $('connection');
	if (there === (text.textContent === live)) return;
	if (!there && text.className === 'lost') return;
	text.className = there ? '' : 'lost';
	text.textContent = there ? live : `Connection lost at ${clock(Date.now() / 1000)}. Trying again.`;
}

// A browser does not try again after an answer with an error, and does not notice a dead network.
setInterval(() => {
	if (Date.now() - heard < silence && source.readyState !== EventSource.CLOSED) return;
	connection(false);
	fetch('./').then(r => {
		if (r.status === 401) location.reload(); // the token is another one now
		else connect();
	}, () => {});
}, 2000);

clear();
connect();
addEventListener('hashchange', connect);
$('span').onchange = () => { draw(); fillFigures(); };
$('figures').ontoggle = fillFigures;
$('concurrency').ontoggle = draw;
$('find').oninput = listRequests;
$('change').onsubmit = change;
document.addEventListener('visibilitychange', draw);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', build);
new ResizeObserver(() => [...charts, ...curved].forEach(({plot, place, height}) => {
	if (plot && plot.width !== place.clientWidth) plot.setSize({width: place.clientWidth, height});
})).observe($('charts'));
