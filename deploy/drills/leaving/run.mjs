/**
 * `npm run drill leaving`: an account that uses every feature is exported, and then deleted with an organization that only it owns.
 * Services are killed during the erasure. Then every store is searched for the account's data. Before the erasure the search must find it,
 * because otherwise finding nothing proves nothing. The drill affects only processes that it started.
 */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MEDIA_DIR } from "../../local/paths.mjs";
import { createApi } from "../support/api.mjs";
import { pause, readLocal, startPlatform } from "../support/platform.mjs";
import { createReceiver } from "../support/receiver.mjs";
import { killProcess } from "../support/faults.mjs";
import { runDrill } from "../support/run-drill.mjs";
import { filesIn } from "../support/files.mjs";
import { listed, readings, searchAll, searchTemporal } from "../support/stores.mjs";
import { createAccount } from "./account.mjs";
import { createOrganization } from "./organization.mjs";

export const DRILL = {
  sentence: "erases an account and an organization under kills, then searches every store for their words, the address and their ids",
  minutes: 4,
};

/** Long enough to try rejected requests and to cancel the deletion once. */
const ERASURE_DAYS = 12 / 86_400;
const ERASED_MS = 300_000;
const EXPORT_MS = 60_000;
const KILLS = ["executions", "media", "identity", "billing", "workflows", "executions"];
const BETWEEN_KILLS_MS = 1_500;
/** Request counters per user expire a minute after the last request. */
const COUNTERS_MS = 65_000;
/** Temporal carries out deletions by a queue of its own, and lists a deleted workflow until then. */
const TEMPORAL_MS = 300_000;

/** Places that can keep an id but no other data. */
const KEEPS_IDS = ["billing.ledger", "billing.accounts", "billing.checkpoints", "identity.audit", "workflows.workflows", "logs"];
/** Places that can keep slugs of workflows, because a slug stays taken. */
const KEEPS_SLUGS = ["workflows.workflows", "logs"];

/**
 * Search terms, with the places in which each can remain.
 * @param {Awaited<ReturnType<typeof createAccount>>} account @param {Awaited<ReturnType<typeof createOrganization>>} organization
 */
const needlesOf = ({ word, slugWord, email, userId, keyId, executions, batchId, file }, organization) => [
  { name: "words", texts: [word, word.toUpperCase()], allowed: /** @type {string[]} */ ([]) },
  { name: "the address", texts: [email], allowed: [] },
  { name: "names of workflows", texts: [slugWord], allowed: KEEPS_SLUGS },
  { name: "the id", texts: [userId], allowed: KEEPS_IDS },
  { name: "the organization's id", texts: [organization.id], allowed: KEEPS_IDS },
  { name: "ids of runs", texts: [...executions, organization.executionId], allowed: ["billing.ledger", "logs"] },
  { name: "ids of keys, batches and files", texts: [keyId, organization.keyId, batchId, file.id], allowed: ["identity.audit", "logs"] },
];

/** @param {ReturnType<typeof needlesOf>} needles */
const createLook = (needles) => {
  /** @type {Map<string, Map<string, number>>} by needle and place */
  const needlePlaces = new Map(needles.map(({ name }) => [name, new Map()]));
  return {
    found: needlePlaces,
    /** @type {import("../support/stores.mjs").Look} */
    look: (place, content) => {
      const parts = readings(content);
      for (const { name, texts } of needles)
        if (texts.some((text) => parts.some((part) => part.includes(text)))) {
          const places = /** @type {Map<string, number>} */ (needlePlaces.get(name));
          places.set(place, (places.get(place) ?? 0) + 1);
        }
    },
  };
};

/** @param {ReturnType<typeof needlesOf>} needles */
const search = async (needles) => {
  const { found, look } = createLook(needles);
  await searchAll(look);
  return found;
};

/** Waits until Temporal has carried out the deletions. @param {ReturnType<typeof needlesOf>} needles */
const waitForTemporal = async (needles) => {
  for (const end = Date.now() + TEMPORAL_MS; ; await pause(5_000)) {
    const { found, look } = createLook(needles);
    await searchTemporal(readLocal().temporalAddress, look);
    if ([...found.values()].every((places) => places.size === 0) || Date.now() > end) return;
  }
};

/** Contents of a ZIP, read by another program. @param {Uint8Array} zip */
const contentsOf = (zip) => {
  const folder = mkdtempSync(join(tmpdir(), "nodeloom-export-"));
  try {
    const path = join(folder, "export.zip");
    writeFileSync(path, zip);
    const script =
      "import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\nfor n in z.namelist():\n print(n)\n print(z.read(n).decode('utf8', 'replace')[:200000])";
    return execFileSync("python3", ["-c", script, path], { encoding: "utf8", maxBuffer: 512 * 1024 * 1024 });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

await runDrill("leaving", async ({ say, check, atEnd }) => {
  const receiver = await createReceiver();
  atEnd(receiver.close);
  const platform = await startPlatform({ EGRESS_ALLOW: receiver.address, ACCOUNT_ERASURE_DAYS: String(ERASURE_DAYS) });
  atEnd(platform.stop);
  const { accounts } = readLocal();
  const api = createApi(() => readLocal().baseUrl);
  const adminKey = accounts.admin.apiKey;
  const mediaBefore = await filesIn(MEDIA_DIR);
  const baseUrl = () => readLocal().baseUrl;
  const account = await createAccount({ api, baseUrl, adminKey, webhookUrl: receiver.url, hookHost: receiver.address });
  const { userId, cookie, key, slug, inputs, password } = account;
  const organization = await createOrganization({ api, adminKey, account });
  say(`an account and its organization have used everything: ${account.ends.join(", ")}`);

  /** @type {any} */
  let archive;
  for (const end = Date.now() + EXPORT_MS; ; await pause(500)) {
    archive = await api.call("GET", "/api/me/export", { cookie });
    if (archive.status === 200) break;
    if (Date.now() > end) throw new Error(`no archive: ${archive.status} ${JSON.stringify(archive.body)}`);
  }
  const stranger = await fetch(archive.body.url, { headers: { "x-api-key": key } });
  const zip = await fetch(archive.body.url, { headers: { cookie } });
  const contents = contentsOf(new Uint8Array(await zip.arrayBuffer()));
  check(
    [
      "the archive has the words, and every kind of thing",
      contents.includes(account.word) && ["executions.jsonl", "ledger.jsonl", "files/"].every((part) => contents.includes(part)),
      `${archive.body.bytes} bytes`,
    ],
    ["the archive has no value of a secret or a key", !contents.includes(`value-of-${account.word}`) && !contents.includes(key), ""],
    ["a key doesn't fetch it", stranger.status === 403, String(stranger.status)],
  );

  const needles = needlesOf(account, organization);
  const before = await search(needles);
  for (const { name } of needles) say(`before: ${name}: ${listed(before.get(name) ?? new Map())}`);
  const wasThere = (/** @type {string} */ name, /** @type {string} */ place) => (before.get(name)?.get(place) ?? 0) > 0;
  check(
    ...[
      "executions.executions",
      "executions.payloads",
      "workflows.workflows",
      "workflows.versions",
      "identity.users",
      "usage.usage",
      "Redis",
      "Temporal",
    ].map((place) => /** @type {[string, boolean, string]} */ ([`the search sees ${place}`, wasThere("words", place), ""])),
  );

  const ask = () => api.call("DELETE", "/api/me", { cookie, body: { password } });
  const byKey = await api.call("DELETE", "/api/me", { key, body: { password } });
  const wrong = await api.call("DELETE", "/api/me", { cookie, body: { password: "not the password at all" } });
  // Closes the organization before the account, which is its only owner.
  const close = () => api.call("DELETE", `/api/organizations/${organization.id}`, { cookie, body: { password } });
  const closing = await close();
  const leaving = await ask();
  const refusal = await api.call("POST", `/api/workflows/${slug}/run`, { key, body: { inputs } });
  const sharedRefused = await api.call("POST", `/api/workflows/${organization.slug}/run`, { key: organization.key, body: { inputs } });
  const reopened = await api.call("POST", `/api/organizations/${organization.id}/restore`, { cookie });
  const restored = await api.call("POST", "/api/me/restore", { cookie });
  const runsAgain = await api.call("POST", `/api/workflows/${slug}/run`, { key, body: { inputs } });
  check(
    ["a key doesn't delete", byKey.status === 403 && byKey.body.code === "SESSION_REQUIRED", JSON.stringify(byKey.body)],
    ["a wrong password doesn't delete", wrong.status === 401, JSON.stringify(wrong.body)],
    ["deleting answers when", leaving.status === 202 && typeof leaving.body.erasesAt === "string", JSON.stringify(leaving.body)],
    ["a leaving account can't run", refusal.status === 403 && refusal.body.code === "ACCOUNT_LEAVING", JSON.stringify(refusal.body)],
    ["deleting an organization answers when", closing.status === 202, `${closing.status} ${JSON.stringify(closing.body)}`],
    ["nothing runs for it", sharedRefused.body.code === "ACCOUNT_LEAVING", JSON.stringify(sharedRefused.body)],
    ["its owner can keep it", reopened.status === 204, String(reopened.status)],
    ["an account can change its mind", restored.status === 204 && runsAgain.status === 200, `${restored.status}, then ${runsAgain.status}`],
  );
  if (runsAgain.body.executionId !== undefined) account.executions.push(runsAgain.body.executionId);

  const late = await api.call("POST", `/api/workflows/${slug}/run`, { key, body: { inputs }, prefer: "respond-async" });
  check(["a run is under way when it is asked for", late.status === 202, `${late.status} ${JSON.stringify(late.body).slice(0, 200)}`]);
  if (late.body.executionId !== undefined) account.executions.push(late.body.executionId);
  await close();
  await ask();
  const askedAt = Date.now();
  say("the account and its organization are to be deleted; services are killed while they are");
  await pause(ERASURE_DAYS * 86_400_000);
  for (const name of KILLS) {
    await pause(BETWEEN_KILLS_MS);
    await killProcess(name, say);
  }
  for (const end = Date.now() + ERASED_MS; ; await pause(1_000)) {
    const { status } = await api.call("GET", `/api/admin/users/${userId}`, { key: adminKey });
    const { body } = await api.call("GET", "/api/admin/organizations?limit=500", { key: adminKey });
    if (status === 404 && !JSON.stringify(body).includes(organization.id)) break;
    if (Date.now() > end) throw new Error("the account or its organization is there still");
  }
  say(`both were erased ${((Date.now() - askedAt) / 1_000).toFixed(0)} s after it was asked for`);

  const identity = await api.call("GET", "/api/me", { cookie });
  const back = await api.call("POST", "/api/me/restore", { cookie });
  const again = await api.call("POST", "/api/auth/register", { body: { email: `other-${randomUUID()}@leaving.example`, password } });
  const ledger = await api.call("GET", "/api/admin/ledger/check?full=true", { key: adminKey });
  check(
    ["its session is over", identity.status === 401 && back.status === 401, `${identity.status}, ${back.status}`],
    ["others register as ever", again.status === 201, String(again.status)],
    ["the ledger adds up", ledger.body.ok === true, JSON.stringify(ledger.body.mismatches)],
  );

  await pause(Math.max(0, askedAt + COUNTERS_MS - Date.now()));
  const needlesAfter = needlesOf(account, organization);
  await waitForTemporal(needlesAfter);
  say(`Temporal was searched until ${((Date.now() - askedAt) / 1_000).toFixed(0)} s after it was asked for`);
  const after = await search(needlesAfter);
  for (const { name, allowed } of needlesAfter) {
    const places = after.get(name) ?? new Map();
    const wrongly = [...places.keys()].filter((place) => !allowed.includes(place));
    check([`${name} are nowhere but where ids are kept`, wrongly.length === 0, listed(places)]);
  }
  // After the search, because the new workflow has the name too, and so has its entry in the administrator's audit log.
  const saved = await api.call("POST", "/api/workflows", { key: adminKey, body: { name: account.slugWord, nodes: [], edges: [] } });
  check(["its slugs stay taken", saved.status === 201 && saved.body.slug === `${slug}-2`, JSON.stringify(saved.body.slug)]);
  for (const name of ["the id", "the organization's id"])
    check([`rows of the ledger with ${name} are there`, after.get(name)?.has("billing.ledger") === true, ""]);
  const mediaAfter = new Set(await filesIn(MEDIA_DIR));
  const remaining = [...mediaAfter].filter((path) => !mediaBefore.includes(path));
  check(["its files are gone", remaining.length === 0, remaining.join(", ")]);
});
