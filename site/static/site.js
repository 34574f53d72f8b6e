'use strict';
// Search, links to headings, copy buttons, and contents that show where the reader is. Pages work without this file.

const $ = id => document.getElementById(id);
const base = document.currentScript.src.replace(/site\.js$/, '');
const most = 20; // results

// The index is loaded when the reader goes to the search.
let index;
const load = () => index ??= fetch(base + 'search.json').then(r => r.json());

function score(entry, words) {
	const title = entry.t.toLowerCase(), heading = entry.h.toLowerCase(), text = entry.x.toLowerCase();
	let sum = 0;
	for (const word of words) {
		const points = (heading === word && 20) + (heading.includes(word) && 10) + (title.includes(word) && 4) + (text.includes(word) && 1);
		if (!points) return 0;
		sum += points;
	}
	return sum;
}

// excerpt is the text around the first of the words that is in it.
function excerpt(text, words) {
	const first = Math.min(...words.map(w => text.toLowerCase().indexOf(w)).filter(i => i >= 0), text.length);
	const from = Math.max(0, text.lastIndexOf(' ', Math.max(0, first - 40)));
	return text.slice(from, from + 140);
}

async function search() {
	const words = $('site-query').value.toLowerCase().split(/\s+/).filter(Boolean);
	const entries = await load();
	const found = words.length ? entries.map(e => [score(e, words), e]).filter(([points]) => points).sort((a, b) => b[0] - a[0]) : [];
	$('site-found').replaceChildren(...found.slice(0, most).map(([, e]) => {
		const item = document.createElement('li'), link = document.createElement('a'), text = document.createElement('p');
		link.href = base + e.p + (e.a && '#' + e.a);
		link.textContent = e.h === e.t ? e.t : `${e.t}: ${e.h}`;
		text.textContent = excerpt(e.x, words);
		item.append(link, text);
		return item;
	}));
	$('site-count').textContent = words.length ? `${found.length} ${found.length === 1 ? 'result' : 'results'}` + (found.length > most ? `, the best ${most} are below` : '') : '';
	$('site-results').hidden = !words.length;
}

$('site-search').hidden = false;
$('site-query').onfocus = load;
$('site-query').oninput = search;
$('site-search').onsubmit = event => {
	event.preventDefault();
	$('site-found').querySelector('a')?.click();
};
document.addEventListener('keydown', event => {
	if (event.key === 'Escape') {
		$('site-query').value = '';
		search();
	} else if (event.key === '/' && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
		event.preventDefault();
		$('site-query').focus();
	}
});

for (const heading of document.querySelectorAll('main :is(h2, h3, h4)[id]')) {
	const link = document.createElement('a');
	link.className = 'anchor';
	link.href = '#' + heading.id;
	link.textContent = '#';
	link.ariaLabel = 'Link to: ' + heading.textContent;
	heading.append(' ', link);
}

for (const pre of document.querySelectorAll('pre')) {
	const button = document.createElement('button');
	button.className = 'copy';
	button.textContent = 'Copy';
	button.onclick = () => navigator.clipboard.writeText(pre.textContent.trimEnd() + '\n').then(
		() => button.textContent = 'Copied', () => button.textContent = 'Not copied');
	const box = document.createElement('div');
	box.className = 'code';
	pre.replaceWith(box);
	box.append(pre, button);
}

const nav = document.querySelector('nav.wide'), here = nav.querySelector('[aria-current]');
if (here) nav.scrollTop = here.offsetTop - nav.clientHeight / 2;
