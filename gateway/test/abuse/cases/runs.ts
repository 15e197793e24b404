import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { LIMITS } from "@nodeloom/kernel";
import { answers, is, pick, refuses } from "../../conformance/check";
import { clip, edge, greeting, node, save } from "../../conformance/graphs";
import type { AbuseCase } from "../case";

const ITEMS = 50;
const STREAMS = 5;
const UNKNOWN = 20;
/** More than a Pro user's requests per minute. */
const BEYOND_LIMIT = 130;
const ROWS = 40;
const FILTERS = 20;
const LINE = 20;
const SAME_KEY = 10;
const RERUNS = 10;
/** Size of the events of fifty calls. */
const STREAM_BYTES = 128 * 1024;

/** Fifty pictures at once, which is the longest event log of one node. */
const fanOut = {
  name: "Fan-out",
  nodes: [
    node("list", "list", { items: Array.from({ length: ITEMS }, (_, index) => `loom ${index}`) }),
    node("pic", "generate-image", { model: "sandbox-image-fast", inputs: { sandbox: { latencyMs: 1 } } }),
    node("out", "response-output"),
  ],
  edges: [edge("list.items", "pic.prompt"), edge("pic.image", "out.images")],
};

let executionId = "";
let textSlug = "";
let othersId = "";
let clipSlug = "";

export const runCases: AbuseCase[] = [
  {
    id: "runs-unknown-ids",
    title: "polls, cancels and events of executions that do not exist, by a user without a limit",
    requests: 3 * UNKNOWN,
    attack: async ({ unlimited }) => {
      for (let turn = 0; turn < UNKNOWN; turn += 1) {
        const path = `/api/executions/${randomUUID()}`;
        const replies = [await unlimited.get(path), await unlimited.post(`${path}/cancel`), await unlimited.get(`${path}/events`)];
        for (const answer of replies) refuses(answer, 404, "EXECUTION_NOT_FOUND");
      }
    },
  },
  {
    id: "runs-unknown-ids-limited",
    title: "the same, beyond a limit",
    requests: BEYOND_LIMIT,
    attack: async ({ attacker }) => {
      let refusedCount = 0;
      for (let turn = 0; turn < BEYOND_LIMIT; turn += 1) {
        const path = `/api/executions/${randomUUID()}`;
        const answer = turn % 2 === 0 ? await attacker.get(path) : await attacker.post(`${path}/cancel`);
        if (answer.status === 429) refusedCount += 1;
        else refuses(answer, 404, "EXECUTION_NOT_FOUND");
      }
      assert.ok(refusedCount > 0, "there was no limit");
    },
  },
  {
    id: "runs-event-streams",
    title: "five streams of the events of fifty calls, from the beginning",
    requests: STREAMS,
    prepare: async ({ unlimited }) => {
      const slug = await save(unlimited, fanOut);
      const answer = answers(await unlimited.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200, { success: true });
      executionId = answer.headers.get("x-execution-id") ?? "";
    },
    attack: async ({ unlimited }) => {
      const streams = await Promise.all(Array.from({ length: STREAMS }, () => unlimited.get(`/api/executions/${executionId}/events`)));
      for (const { status, text } of streams) {
        assert.equal(status, 200);
        assert.ok(text.includes("completed") && text.length < STREAM_BYTES, `${text.length} characters`);
      }
    },
  },
  {
    id: "runs-rerun-quotes",
    title: "ten quotes at once of reruns of fifty calls, with the most nodes that may be named",
    requests: RERUNS,
    attack: async ({ unlimited }) => {
      const nodes = Array.from({ length: LIMITS.nodes }, () => "pic");
      const path = `/api/executions/${executionId}/rerun/quote`;
      const quoted = await Promise.all(Array.from({ length: RERUNS }, (_, turn) => unlimited.post(path, turn % 2 === 0 ? {} : { nodes })));
      for (const answer of quoted) if (answer.status !== 503) answers(answer, 200, { reused: { of: ITEMS } });
    },
  },
  {
    id: "runs-reruns-of-others",
    title: "reruns, and their quotes, of somebody else's execution",
    requests: 2,
    prepare: async ({ victim }) => {
      const ran = await victim.post(`/api/workflows/${await save(victim, greeting())}/run`, { inputs: {} });
      othersId = answers(ran, 200).headers.get("x-execution-id") ?? "";
    },
    attack: async ({ unlimited }) => {
      for (const path of ["rerun", "rerun/quote"])
        refuses(await unlimited.post(`/api/executions/${othersId}/${path}`, {}), 404, "EXECUTION_NOT_FOUND");
    },
  },
  {
    id: "runs-usage-lists",
    title: "usage, run after run, whole",
    requests: 3,
    prepare: async ({ unlimited }) => {
      textSlug = await save(unlimited, greeting());
      for (let rowCount = 0; rowCount < ROWS; rowCount += 1) {
        answers(await unlimited.post(`/api/workflows/${textSlug}/run`, { inputs: {} }), 200);
      }
    },
    attack: async ({ unlimited }) => {
      for (const query of ["limit=500", `limit=500&workflowSlug=${textSlug}`, "limit=500&status=completed&offset=10"]) {
        answers(await unlimited.get(`/api/usage?${query}`), 200, { rows: is.list, total: is.positive });
      }
    },
  },
  {
    id: "runs-filters",
    title: "executions by twenty metadata filters, by operators in place of values, and by broken cursors",
    requests: 3,
    attack: async ({ unlimited }) => {
      const filters = Array.from({ length: FILTERS }, (_, index) => `metadata.name${index}=value`).join("&");
      const queries = [`limit=500&${filters}`, `metadata.$where=${encodeURIComponent("while(true){}")}`, "cursor=AAAAAAAAAAAAAAAA"];
      for (const query of queries) {
        const answer = await unlimited.get(`/api/executions?${query}`);
        if (answer.status !== 400) answers(answer, 200, { rows: [] });
      }
    },
  },
  {
    id: "runs-line",
    title: "twenty videos at once, most of which wait in line, called off again",
    requests: LINE + 1,
    prepare: async ({ attacker }) => {
      clipSlug = await save(attacker, clip({ latencyMs: 60_000 }));
    },
    attack: async ({ attacker }) => {
      const submitted = await Promise.all(
        Array.from({ length: LINE }, () => attacker.session.post(`/api/workflows/${clipSlug}/run?async=true`, { inputs: {} })),
      );
      const ids = submitted.filter(({ status }) => status === 202).map((answer) => pick(answer, "executionId"));
      for (const answer of submitted) assert.ok([202, 402, 429].includes(answer.status), answer.text);
      const cancelled = await attacker.post("/api/executions/cancel", { queued: true });
      assert.ok([200, 429].includes(cancelled.status), cancelled.text);
      for (const id of ids) {
        const { status } = await attacker.post(`/api/executions/${id}/cancel`);
        assert.ok([200, 429].includes(status), String(status));
      }
    },
  },
  {
    id: "runs-same-key",
    title: "ten runs at once under one idempotency key",
    requests: SAME_KEY,
    attack: async ({ unlimited }) => {
      const headers = { "idempotency-key": randomUUID() };
      const path = `/api/workflows/${textSlug}/run`;
      const replies = await Promise.all(
        Array.from({ length: SAME_KEY }, () => unlimited.call("POST", path, { body: { inputs: {} }, headers })),
      );
      for (const answer of replies) assert.ok([200, 409].includes(answer.status), answer.text);
      assert.equal(new Set(replies.map((answer) => answer.headers.get("x-execution-id"))).size, 1);
    },
  },
];
