'use strict';
// Runs the simulator beside the page, which stays quick meanwhile.

importScripts('wasm_exec.js');

const ready = new Promise(resolve => self.weirReady = resolve);
const go = new Go();
WebAssembly.instantiateStreaming(fetch('weir.wasm'), go.importObject).then(({instance}) => {
	go.run(instance);
	return ready;
}).then(
	() => postMessage({scenarios: JSON.parse(weirScenarios())}),
	error => postMessage({error: 'the simulator does not load: ' + error.message}));

onmessage = async ({data: request}) => {
	await ready;
	const begun = performance.now();
	const {answer, error} = weirRun(JSON.stringify(request));
	postMessage(error ? {error} : {answer: JSON.parse(answer), took: performance.now() - begun});
};
