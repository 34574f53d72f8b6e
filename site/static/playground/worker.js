'use strict';
// Runs the simulator beside the page, which stays quick meanwhile.

importScripts('wasm_exec.js');

const go = new Go();
const ready = new Promise((resolve, reject) => {
	self.weirReady = resolve;
	WebAssembly.instantiateStreaming(fetch('weir.wasm'), go.importObject).then(({instance}) => go.run(instance)).catch(reject);
});

onmessage = async ({data: request}) => {
	try {
		await ready;
	} catch (error) {
		postMessage({error: 'the simulator does not load: ' + error.message});
		return;
	}
	const begun = performance.now();
	const {answer, error} = weirRun(JSON.stringify(request));
	postMessage(error ? {error} : {answer: JSON.parse(answer), took: performance.now() - begun});
};
