'use strict';

const hour = 3600; // seconds of readings that the page keeps
const silence = 5000; // milliseconds without a message after which the connection counts as lost
const mostListed = 100; // changes in the list, and rows of the table of figures

const $ = id => document.getElementById(id);
const clock = seconds => new Date(seconds * 1000).toLocaleTimeString();

// Columns of readings, in the order of the messages; the time is in seconds.
let readings, changes;
const at = 0, limit = 1, inFlight = 2, queued = 3, p95 = 4, refused = 5;

function clear() {
	readings = [[], [], [], [], [], []];
	changes = [];
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
	{what: 'Waiting work, and refusals a second', series: [['queued', queued, 'queue'], ['refused/s', refused, 'refused']], height: 110},
	{what: 'Latency of 95% of the work in milliseconds', series: [['p95, ms', p95, 'latency']], times: true, height: 150},
];
let charts = [];

const now = () => readings[at].at(-1) ?? Date.now() / 1000;
const span = () => Number($('span').value);
// since is the first moment of the charts: they fill up from the first reading on.
const since = () => Math.max(now() - span(), Math.min(readings[at][0] ?? now(), now() - 30));
const data = panel => [readings[at], ...panel.series.map(s => readings[s[1]])];

function build() {
	charts.forEach(c => c.plot.destroy());
	$('charts').replaceChildren();
	const style = getComputedStyle(document.documentElement);
	const color = name => style.getPropertyValue('--' + name);
	const axis = {stroke: color('quiet'), grid: {stroke: color('line'), width: 1}, ticks: {show: false}, size: 50};
	const unlabelled = {...axis, values: [], size: 10};
	charts = panels.map(panel => {
		const figure = document.createElement('figure');
		const caption = document.createElement('figcaption');
		const values = panel.series.map(([name, , css]) => {
			const value = element('b', '', {class: css});
			caption.append(caption.childNodes.length ? ' · ' : '', element('span', name, {class: css}), ' ', value);
			return value;
		});
		const place = element('div', '', {role: 'img', 'aria-label': panel.what + ' over time'});
		figure.append(caption, place);
		$('charts').append(figure);
		const plot = new uPlot({
			width: place.clientWidth, height: panel.height,
			cursor: {sync: {key: 'time'}, drag: {x: false, y: false}, y: false},
			legend: {show: false},
			scales: {
				x: {range: () => [since(), now()]},
				y: {range: (_, low, high) => [0, Math.max(high * (panel.marks ? 1.3 : 1.1), 1)]},
			},
			axes: [panel.times ? axis : unlabelled, axis],
			series: [{}, ...panel.series.map(([, , css, steps]) => ({
				stroke: color(css), width: 2, points: {show: false}, spanGaps: false,
				paths: steps ? uPlot.paths.stepped({align: 1}) : undefined,
			}))],
			hooks: {
				draw: panel.marks ? [u => mark(u, color)] : [],
				setCursor: panel.marks ? [u => say(u.cursor.idx)] : [],
			},
		}, data(panel), place);
		return {panel, plot, place, values};
	});
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
	$('moment').textContent = `${clock(r[at])}: limit ${r[limit]}, ${r[inFlight]} in flight, ${r[queued]} queued, p95 ${r[p95] ?? '-'} ms, ${r[refused]} refused/s` +
		(cause ? `. Since ${clock(cause.at)}: ${cause.text}` : '');
}

function draw() {
	if (document.hidden) return;
	for (const {panel, plot, values} of charts) {
		plot.setData(data(panel));
		panel.series.forEach((s, i) => values[i].textContent = readings[s[1]].at(-1) ?? '-');
	}
}

function fillFigures() {
	if (!$('figures').open) return;
	const first = readings[at].findIndex(t => t >= since());
	const step = Math.max(1, Math.ceil((readings[at].length - first) / mostListed));
	const rows = [];
	for (let i = readings[at].length - 1; first >= 0 && i >= first; i -= step)
		rows.push(row(clock(readings[at][i]), ...readings.slice(1).map(column => column[i] ?? '-')));
	$('figures').querySelector('tbody').replaceChildren(...rows);
}

// Messages.

function overview({limiters, more}) {
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
	$('more').hidden = !more;
	$('more').textContent = `${more} more are not shown.`;
	if (shown != null && !limiters.some(l => l.name === shown)) $('decision').textContent = 'this limiter is gone';
}

let shown;

function details(d) {
	if (d.whole) {
		clear();
		shown = d.name;
		$('name').textContent = d.name || '(no name)';
		for (const tr of $('limiters').tBodies[0].rows) {
			if (tr.dataset.name === shown) tr.setAttribute('aria-current', 'true');
			else tr.removeAttribute('aria-current');
		}
	}
	for (const p of d.points) {
		p[at] /= 1000;
		p[p95] ||= null; // nothing has succeeded
		p.forEach((v, i) => readings[i].push(v));
	}
	const old = readings[at].findIndex(t => t >= now() - hour);
	if (old > 600) readings.forEach(column => column.splice(0, old)); // some at a time
	$('decision').textContent = d.decision;
	$('refusals').tBodies[0].replaceChildren(...d.refusals.map(r => row(r.reason, r.total, Math.round(r.rate * 10) / 10)));
	$('refusals').hidden = !d.refusals.length;
	$('none').hidden = d.refusals.length > 0;
	d.changes.forEach(addChange);
	draw();
}

function addChange(c) {
	c.at /= 1000;
	changes.push(c);
	if (changes.length > 1000) changes.splice(0, 500);
	const item = document.createElement('li'), button = document.createElement('button');
	button.append(element('time', clock(c.at)), ' ' + c.text);
	button.onclick = () => show(c.at);
	item.append(button);
	$('changes').prepend(item);
	if ($('changes').children.length > mostListed) $('changes').lastChild.remove();
}

// show puts the cursor of the charts at a moment.
function show(time) {
	const i = readings[at].findIndex(t => t >= time);
	for (const {plot} of charts) plot.setCursor({left: plot.valToPos(time, 'x'), top: 0}, false);
	say(i);
}

// The connection.

let source, heard = Date.now();

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
		heard = Date.now();
		connection(true);
		take(JSON.parse(e.data));
	});
	on('overview', overview);
	on('details', details);
	source.onerror = () => connection(false);
}

function connection(live) {
	const text = $('connection');
	if (live === (text.textContent === 'Live')) return;
	if (!live && text.className === 'lost') return;
	text.className = live ? '' : 'lost';
	text.textContent = live ? 'Live' : `Connection lost at ${clock(Date.now() / 1000)}. Trying again.`;
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
build();
connect();
addEventListener('hashchange', connect);
$('span').onchange = () => { draw(); fillFigures(); };
$('figures').ontoggle = fillFigures;
document.addEventListener('visibilitychange', draw);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { build(); draw(); });
new ResizeObserver(() => charts.forEach(c => c.plot.setSize({width: c.place.clientWidth, height: c.panel.height}))).observe($('charts'));
