import { randomUUID } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Connection } from "mongoose";
import { connectMongo, isDatabaseUnavailable } from "../../src";

/** Limit that is reached only if the guarantee is broken. */
const NEVER_MS = 60_000;

const sockets = new Set<Socket>();
const note = (message: unknown): unknown => sockets.add((message as { socket: Socket }).socket);

let connection: Connection;
beforeAll(async () => {
  subscribe("net.client.socket", note);
  connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: `test_${randomUUID().slice(0, 8)}_closed` });
});
afterAll(async () => {
  unsubscribe("net.client.socket", note);
  await connection.close();
});

const ping = (): Promise<unknown> => connection.db!.command({ ping: 1 }).then(() => "answered");
const failed = (error: unknown): unknown => (isDatabaseUnavailable(error) ? "away" : error);

/** True if a write fails at once. A socket that is still connecting accepts a write. */
const isRefused = (socket: Socket): boolean => {
  try {
    socket.write("late");
    return false;
  } catch {
    return true;
  }
};

test("a command ends if its connection closes before it is written", async () => {
  await ping();
  // Destroyed sockets that haven't closed yet, which the driver still considers open.
  const late = [...sockets].filter(({ destroyed }) => !destroyed);
  const closed = Promise.all(late.map((socket) => new Promise((resolve) => socket.destroy().once("close", resolve))));
  const outcome = await Promise.race([ping().catch(failed), delay(NEVER_MS, "never ended", { ref: false })]);
  expect(outcome).toBe("away");
  // A write after the close fails without waiting.
  await closed;
  expect(late.some(isRefused)).toBe(true);
  await expect(ping()).resolves.toBe("answered");
});
