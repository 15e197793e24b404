import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { freePort } from "../servers/ports.cjs";

const PORTS = fileURLToPath(new URL("../servers/ports.cjs", import.meta.url));
/** Two processes that choose this many of 3,000 ports at random choose some of the same: on average thirteen. */
const MANY = 200;
const CHOOSE = `
  const { freePort } = require(${JSON.stringify(PORTS)});
  (async () => {
    const chosen = [];
    while (chosen.length < ${MANY}) chosen.push(await freePort());
    console.log(JSON.stringify(chosen));
    setInterval(() => undefined, 1_000);
  })();`;

/** A process that has chosen ports and started no server yet. @param {import("node:test").TestContext} context */
const chooser = async (context) => {
  const child = spawn(process.execPath, ["-e", CHOOSE], {
    env: { ...process.env, JEST_WORKER_ID: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface(child.stdout), "line");
  const end = async () => {
    if (child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  };
  context.after(end);
  return { end, ports: /** @type {number[]} */ (JSON.parse(line)) };
};

test("launchers that start at the same time never choose the same port", async (context) => {
  const choosers = await Promise.all([chooser(context), chooser(context)]);
  const ports = choosers.flatMap(({ ports }) => ports);
  assert.equal(new Set(ports).size, 2 * MANY);
});

test("a port is free again when its launcher was killed", async (context) => {
  const { ports, end } = await chooser(context);
  const [port] = ports;
  assert.notEqual(await freePort(port), port);
  await end();
  assert.equal(await freePort(port), port);
});

test("a port on which another program listens isn't chosen", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  assert.notEqual(await freePort(port), port);
  server.close();
  await once(server, "close");
  assert.equal(await freePort(port), port);
});
