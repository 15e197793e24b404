// Carries out a run until it is about to ask a language model a second time, and exits there.
//   node dying-worker.cjs <Temporal's address> <task queue> Reports each call to its parent process before it answers.
const { createLogger } = require("@nodeloom/platform");
const { join } = require("node:path");
const { connectTemporal } = require("@nodeloom/platform/temporal");

const bundlePath = join(__dirname, "..", "..", "dist", "workflow-bundle.js");

const [address, taskQueue] = process.argv.slice(2);

const activities = {
  claim: () => Promise.resolve(true),
  runText: (call) => {
    process.send(call);
    return Promise.resolve({ files: [], text: "words", problems: ["is no JSON"], costMicroUsd: 1, requestId: null });
  },
  extendHold: () => process.kill(process.pid, "SIGKILL"),
};

connectTemporal({
  address,
  namespace: "default",
  taskQueue,
  dataConverter: {},
  logger: createLogger("dying", "silent"),
  workflowBundle: { codePath: bundlePath },
  shutdownGraceMs: 2_000,
})
  .then((temporal) => temporal.work(activities))
  .then(() => process.send("ready"));
