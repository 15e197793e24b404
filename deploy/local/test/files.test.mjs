import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { privateFolder, readJson, writeJson } from "../run/files.mjs";
import { lockHolder, takeLock } from "../run/lock.mjs";
import { openLogFile } from "../run/log-file.mjs";
import { cached } from "../servers/programs/cache.mjs";

/** @type {string} */
let folder;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodeloom-files-"));
});
after(() => rm(folder, { recursive: true }));

test("a second start reports the running process, and can start once that has ended", async () => {
  const path = join(folder, "lock.json");
  const first = await takeLock(path);
  assert.ok("release" in first);
  const second = await takeLock(path);
  assert.equal("holder" in second && second.holder.pid, process.pid);
  await first.release();
  assert.ok("release" in (await takeLock(path)));
});

test("a lock whose holder died, or whose process id now belongs to another process, is taken over", async () => {
  const path = join(folder, "stale.json");
  await writeFile(path, JSON.stringify({ pid: process.pid, identity: "an earlier process" }));
  assert.equal(await lockHolder(path), undefined);
  assert.ok("release" in (await takeLock(path)));
  assert.equal((await lockHolder(path))?.pid, process.pid);
});

test("state is written atomically, and only its owner can read it", async () => {
  const path = join(folder, "deep", "state.json");
  await writeJson(path, { a: 1 });
  assert.deepEqual(await readJson(path), { a: 1 });
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.deepEqual(await readdir(join(folder, "deep")), ["state.json"]);
});

test("other users of the machine can't enter a data folder, new or created by an earlier version", async () => {
  const open = join(folder, "open");
  await mkdir(open, { mode: 0o755 });
  for (const path of [open, join(folder, "state", "data")]) {
    await privateFolder(path);
    assert.equal((await stat(path)).mode & 0o777, 0o700);
  }
});

test("a full log is renamed and a new one starts", async () => {
  const path = join(folder, "service.log");
  const write = openLogFile(path, 10);
  for (const text of ["first..\n", "second.\n", "third..\n"]) write(Buffer.from(text));
  assert.equal(await readFile(path, "utf8"), "third..\n");
  assert.equal(await readFile(`${path}.1`, "utf8"), "second.\n");
});

test("a cache entry filled by two processes is complete, and a failed fill leaves nothing", async () => {
  const entry = join(folder, "cache", "entry");
  const fill = async (/** @type {string} */ draft) => {
    await writeFile(join(draft, "a"), "1");
    await new Promise((resolve) => setTimeout(resolve, 20));
    await writeFile(join(draft, "b"), "2");
  };
  await Promise.all([cached(entry, fill), cached(entry, fill)]);
  assert.deepEqual((await readdir(entry)).sort(), ["a", "b"]);
  const broken = cached(join(folder, "cache", "broken"), async () => Promise.reject(new Error("no network")));
  await assert.rejects(broken, /no network/);
  assert.deepEqual(await readdir(join(folder, "cache")), ["entry"]);
});
