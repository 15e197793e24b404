/**
 * Sends another user's requests one after another, in a thread of its own, so that sending the attacks doesn't delay them. After the
 * message `{ begin: n }` it sends at least n requests, until the message to end; then it answers `{ times, refused }`.
 */
const { parentPort, workerData } = require("node:worker_threads");

const { url, headers, pauseMs } = workerData;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

let isOver = false;

const work = async (atLeast) => {
  const times = [];
  let refusedCount = 0;
  while (times.length < atLeast || !isOver) {
    const startedAt = performance.now();
    const answer = await fetch(url, { headers }).catch(() => undefined);
    await answer?.arrayBuffer().catch(() => undefined);
    times.push(performance.now() - startedAt);
    parentPort.postMessage({ doneCount: times.length });
    if (answer?.status !== 200) refusedCount += 1;
    await pause(pauseMs);
  }
  parentPort.postMessage({ times, refusals: refusedCount });
};

parentPort.on("message", ({ begin, end }) => {
  if (end) isOver = true;
  if (begin === undefined) return;
  isOver = false;
  void work(begin);
});
