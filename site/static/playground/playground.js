'use strict';
// The page of the simulator: a system by sliders, or a scenario of the suites by link, under several
// laws.

const at = 0; // of a point: seconds, limit, work in flight, good answers a second, p99
const panels = [['Limit', 1], ['Work in flight', 2], ['Answers in time, a second', 3], ['p99 of the latency, ms', 4]];
const colors = ['var(--law-1)', 'var(--law-2)', 'var(--law-3)', 'var(--law-4)'];

const element = (tag, text, attributes = {}) => {
	const e = document.createElement(tag);
	e.textContent = text;
	for (const name in attributes) e.setAttribute(name, attributes[name]);
	return e;
};
const value = id => Number($(id).value);
const resolved = color => getComputedStyle(document.documentElement).getPropertyValue(color.slice(4, -1));

// system is the scenario that the sliders describe, in the format of package sim.
function system() {
	const rate = value('load') / 100 * value('workers') / (value('work') / 1000);
	return {
		name: 'your system', slo: value('slo') + 'ms',
		arrivals: {poisson: {rate}},
		work: {lognormal: {mean: value('work') + 'ms', cv: 1}},
		server: {pool: {workers: value('workers')}},
		phases: [{name: 'before', length: '60s'}, {name: 'fault', length: '60s', speed: value('speed') / 100, load: value('surge') / 100}, {name: 'after', length: '60s'}],
	};
}

function request() {
	const laws = ['setpoint', 'gradient2', 'aimd', `fixed(${value('fixed')})`];
	const scenario = $('scenario').value;
	return {laws, seed: value('seed'), ...(scenario ? {scenario} : {system: system()})};
}

const folder = document.currentScript.src.replace(/[^/]*$/, '');
let worker, charting, busy = false, again = false, answer;

function label() {
	for (const output of document.querySelectorAll('#controls output')) output.textContent = $(output.htmlFor[0]).value;
	$('own').disabled = Boolean($('scenario').value);
}

// run asks the worker, which loads the simulator and the charts at first; while it works, only the last of
// further changes counts.
function run() {
	label();
	if (!worker) {
		const script = element('script', '', {src: folder + 'uPlot.iife.min.js'});
		charting = new Promise((resolve, reject) => {
			script.onload = resolve;
			script.onerror = () => reject(new Error('the charts do not load'));
		});
		document.head.append(script, element('link', '', {rel: 'stylesheet', href: folder + 'uPlot.min.css'}));
		worker = new Worker(folder + 'worker.js');
		worker.onmessage = ran;
		worker.onerror = failed;
		$('state').textContent = 'The simulator loads.';
		$('results').hidden = false;
	}
	if (busy) {
		again = true;
		return;
	}
	busy = true;
	worker.postMessage(request());
}

async function ran({data}) {
	try {
		await charting;
	} catch (error) {
		return failed(error);
	}
	busy = false;
	if (again) {
		again = false;
		run();
	}
	if (data.error) {
		$('state').textContent = data.error;
		return;
	}
	answer = data.answer;
	$('state').textContent = `${answer.runs.length} runs of ${answer.runs[0].points.length} simulated seconds took ${Math.round(data.took)} ms here.`;
	show();
}

// failed says why, so that the next run loads all again.
function failed(error) {
	$('state').textContent = error.message || 'the simulator does not load';
	worker?.terminate(); // both the charts and the simulator may fail
	worker = undefined;
	busy = again = false;
}

let plots = [];

function show() {
	$('about').textContent = answer.about || 'A server whose speed and load change in the second of three minutes.';
	$('figures').tBodies[0].replaceChildren(...answer.runs.map((r, i) => {
		const tr = element('tr', ''), name = element('th', r.law, {scope: 'row'});
		name.style.color = resolved(colors[i]);
		tr.append(name, ...[`${(100 * r.good / r.requests).toFixed(1)}%`, r.refused, r.limit.toFixed(1), Math.round(r.p99)].map(v => element('td', v)));
		return tr;
	}));
	$('changes').replaceChildren(...answer.runs[0].changes.slice(-20).reverse().map(c => element('li', `${c.at.toFixed(1)} s: ${c.text}`)));
	plots.forEach(p => p.destroy());
	$('charts').replaceChildren();
	const axis = {stroke: resolved('var(--faint)'), grid: {stroke: resolved('var(--line)'), width: 1}, ticks: {show: false}};
	plots = panels.map(([title, column]) => {
		const figure = element('figure', ''), place = element('div', '', {role: 'img', 'aria-label': title + ' over time, by law'});
		figure.append(element('figcaption', title), place);
		$('charts').append(figure);
		return new uPlot({
			width: place.clientWidth, height: 160, legend: {show: false},
			cursor: {sync: {key: 'time'}, drag: {x: false, y: false}, y: false},
			scales: {x: {time: false}, y: {range: (_, low, high) => [0, Math.max(high * 1.1, 1)]}},
			axes: [{...axis, size: 30, values: (_, v) => v.map(s => s + ' s')}, {...axis, size: 60}],
			series: [{}, ...answer.runs.map((r, i) => ({stroke: resolved(colors[i]), width: 2, points: {show: false}}))],
			hooks: {drawClear: [shade]},
		}, [answer.runs[0].points.map(p => p[at]), ...answer.runs.map(r => r.points.map(p => p[column]))], place);
	});
}

// shade marks every second phase.
function shade(u) {
	u.ctx.save();
	u.ctx.fillStyle = resolved('var(--fill)');
	answer.phases.forEach((phase, i) => {
		if (i % 2 === 0) return;
		const from = u.valToPos(phase.start, 'x', true);
		const to = u.valToPos(answer.phases[i + 1]?.start ?? u.scales.x.max, 'x', true);
		u.ctx.fillRect(from, u.bbox.top, to - from, u.bbox.height);
	});
	u.ctx.restore();
}

// follow chooses the scenario of the address: playground/#slow30.
function follow() {
	$('scenario').value = location.hash.slice(1); // names need no escape
	if ($('scenario').selectedIndex < 0) $('scenario').value = '';
	if ($('scenario').value || worker) run();
}

label();
fetch(folder + 'scenarios.json').then(r => r.json()).then(all => {
	$('scenario').append(...all.map(s => element('option', s.name, {value: s.name})));
	follow();
}).catch(error => $('state').textContent = 'The scenarios do not load: ' + error.message);
addEventListener('hashchange', follow);
$('run').onclick = run;
$('scenario').onchange = () => location.hash = $('scenario').value;
$('controls').oninput = event => event.target.id !== 'scenario' && run();
$('controls').onsubmit = event => event.preventDefault();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => answer && show());
new ResizeObserver(() => plots.forEach(p => p.setSize({width: $('charts').clientWidth, height: 160}))).observe($('charts'));
