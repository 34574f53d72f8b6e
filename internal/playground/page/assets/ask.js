'use strict';
// Has weir sim serve run the simulator, in place of the worker of the site.

onmessage = async ({data: request}) => {
	const begun = performance.now();
	try {
		const r = await fetch('run', {method: 'POST', body: JSON.stringify(request)});
		postMessage(r.ok ? {answer: await r.json(), took: performance.now() - begun} : {error: await r.text()});
	} catch (error) {
		postMessage({error: 'the simulator does not answer: ' + error.message});
	}
};
