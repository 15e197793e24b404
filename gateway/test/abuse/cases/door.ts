import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { refuses } from "../../conformance/check";
import type { AbuseCase } from "../case";
import { headOf, speak } from "../connection";

const MEBIBYTE = 1024 * 1024;
/** Ten kilobytes that decompress to ten megabytes. */
const BOMB = gzipSync(Buffer.alloc(10 * MEBIBYTE, "["));
const DEEP = "[".repeat(5 * MEBIBYTE);
const MANY = `[${"0,".repeat(4 * MEBIBYTE)}0]`;
const BROKEN = `{"name":"${"x".repeat(5 * MEBIBYTE)}"`;
/** Time for which a request without its body is kept open. */
const DRIP_MS = 500;
const PROBES = 10;
/** More than an address can send per minute. */
const WRONG_KEYS = 320;

/** Sends bytes as a body; text can't carry them. */
const postBytes = async (
  baseUrl: string,
  path: string,
  body: Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
): Promise<number> => {
  const answer = await fetch(`${baseUrl}${path}`, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
  await answer.arrayBuffer();
  return answer.status;
};

export const doorCases: AbuseCase[] = [
  {
    id: "door-gzip",
    title: "ten kilobytes of gzip, without credentials and with a key",
    attack: async ({ context, attacker }) => {
      for (const headers of [{}, { "x-api-key": attacker.key }] as Record<string, string>[]) {
        const packed = { ...headers, "content-encoding": "gzip" };
        const status = await postBytes(context.baseUrl, "/api/workflows", new Uint8Array(BOMB), packed);
        assert.ok(status === 415 || status === 429, String(status));
      }
    },
  },
  {
    id: "door-anonymous-size",
    title: "five megabytes of JSON without credentials",
    attack: async ({ context }) => {
      const open = await context.anonymous.call("POST", "/api/auth/login", { raw: BROKEN });
      if (open.status !== 429) refuses(open, 413, "PAYLOAD_TOO_LARGE");
      const unknown = await context.anonymous.call("POST", "/api/workflows", { raw: BROKEN });
      if (unknown.status !== 429) refuses(unknown, 401, "UNAUTHENTICATED");
    },
  },
  ...(
    [
      ["door-json-depth", "five million open brackets", DEEP],
      ["door-json-values", "four million numbers", MANY],
      ["door-json-broken", "five megabytes that end in broken JSON", BROKEN],
    ] as const
  ).map(([id, title, raw]): AbuseCase => ({
    id,
    title,
    attack: async ({ attacker }) => {
      const answer = await attacker.call("POST", "/api/workflows", { raw });
      // The request counts like any other.
      if (answer.status !== 429) refuses(answer, 400, "INVALID_REQUEST");
    },
  })),
  {
    id: "door-drip",
    title: "a body that is announced and never comes",
    attack: async ({ context, attacker }) => {
      const headers = { "x-api-key": attacker.key, "content-type": "application/json", "content-length": String(MEBIBYTE) };
      const { answer } = await speak(context.baseUrl, `${headOf("POST", "/api/folders", headers)}{`, DRIP_MS);
      assert.match(answer, /^($|HTTP\/1.1 (408|429) )/);
    },
  },
  {
    id: "door-upload-unapproved",
    title: "an upload of 100 MB by an account that awaits approval",
    attack: async ({ context, unapproved }) => {
      const headers = { cookie: unapproved.cookie, origin: context.baseUrl, "content-length": String(100 * MEBIBYTE) };
      const { answer } = await speak(context.baseUrl, `${headOf("POST", "/api/media", headers)}${"x".repeat(1024)}`);
      assert.match(answer, /^HTTP\/1.1 (429 |403 [\s\S]*"ACCOUNT_NOT_APPROVED")/);
    },
  },
  {
    id: "door-headers",
    title: "headers without end",
    attack: async ({ context }) => {
      const { answer } = await speak(context.baseUrl, headOf("GET", "/api/whoami", { "x-large": "x".repeat(100_000) }));
      assert.match(answer, /^($|HTTP\/1.1 4(00|31) )/);
    },
  },
  {
    id: "door-host",
    title: "a write by cookie from a foreign page, under a Host of its own",
    attack: async ({ context, victim }) => {
      const host = "pages.example";
      const headers = { host, origin: `http://${host}`, cookie: victim.cookie, "content-type": "application/json", "content-length": "2" };
      const { answer } = await speak(context.baseUrl, `${headOf("POST", "/api/folders", headers)}{}`);
      assert.match(answer, /^HTTP\/1.1 4(03|29) /);
    },
  },
  {
    id: "door-readiness",
    title: "readiness, asked for again and again",
    requests: PROBES,
    attack: async ({ context }) => {
      const probes = await Promise.all(Array.from({ length: PROBES }, () => context.anonymous.get("/readyz")));
      for (const { status } of probes) assert.ok(status === 200 || status === 429, String(status));
    },
  },
  {
    id: "door-forwarded",
    title: "wrong keys, each as if from another address",
    requests: WRONG_KEYS,
    attack: async ({ context }) => {
      let refusedCount = 0;
      for (let turn = 0; turn < WRONG_KEYS; turn += 1) {
        const headers = { "x-api-key": `nl_test_${turn}`, "x-forwarded-for": `203.0.113.${turn % 250}` };
        const answer = await context.anonymous.call("GET", "/api/whoami", { headers });
        if (answer.status === 429) refusedCount += 1;
        else refuses(answer, 401, "UNAUTHENTICATED");
      }
      assert.ok(refusedCount > 0, "there was no limit");
    },
  },
];
