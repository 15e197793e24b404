import assert from "node:assert/strict";
import { answers, pick, refuses } from "../../conformance/check";
import { edge, node, save } from "../../conformance/graphs";
import type { AbuseCase } from "../case";

const CANCELS = 8;
/** One more than Enterprise allows. */
const ROWS = 10_001;
const COLUMNS = 50_000;

const texts = {
  name: "Rows",
  nodes: [
    node("in", "request-input", { fields: [{ name: "subject", type: "text", label: "Subject" }] }),
    node("box", "text-box", { text: "{{s}}" }),
    node("out", "response-output"),
  ],
  edges: [edge("in.subject", "box.s"), edge("box.text", "out.text")],
};
const NOTHING = "00000000-0000-4000-8000-000000000000";

let slug = "";
let victimsBatch = "";

export const batchCases: AbuseCase[] = [
  {
    id: "batches-too-many",
    title: "a batch of 10,001 rows, and one of none",
    requests: 2,
    prepare: async ({ unlimited }) => {
      slug = await save(unlimited, texts);
    },
    attack: async ({ unlimited }) => {
      const inputs = Array.from({ length: ROWS }, () => ({ subject: "a" }));
      refuses(await unlimited.post(`/api/workflows/${slug}/batches`, { inputs }), 400, "INVALID_INPUTS");
      refuses(await unlimited.post(`/api/workflows/${slug}/batches`, { inputs: [] }), 400, "INVALID_INPUTS");
    },
  },
  {
    id: "batches-csv-bomb",
    title: "files with 50,000 columns, with 10,001 rows, and with a line that never ends",
    requests: 3,
    attack: async ({ unlimited }) => {
      const files = [
        `${Array.from({ length: COLUMNS }, (_, index) => `c${index}`).join(",")}\n${",".repeat(COLUMNS - 1)}\n`,
        `subject\n${"a\n".repeat(ROWS)}`,
        `subject\n"${"a".repeat(1024 * 1024)}`,
      ];
      for (const file of files) {
        const uploaded = await unlimited.call("POST", "/api/media", { raw: file, headers: { "content-type": "text/csv" } });
        const mediaId: string = pick(answers(uploaded, 201), "id");
        refuses(await unlimited.post(`/api/workflows/${slug}/batches`, { mediaId }), 400, "INVALID_REQUEST");
        answers(await unlimited.delete(`/api/media/${mediaId}`), 204);
      }
    },
  },
  {
    id: "batches-of-others",
    title: "reading, cancelling, resuming and rerunning a batch of somebody else's, and one that is not there",
    requests: 10,
    prepare: async ({ victim }) => {
      const inputs = [{ subject: "a" }];
      victimsBatch = pick(answers(await victim.post(`/api/workflows/${await save(victim, texts)}/batches`, { inputs }), 202), "batchId");
    },
    attack: async ({ attacker }) => {
      for (const id of [victimsBatch, NOTHING]) {
        const path = `/api/batches/${id}`;
        const replies = [
          await attacker.get(path),
          await attacker.get(`${path}/results`),
          await attacker.post(`${path}/cancel`),
          await attacker.post(`${path}/resume`, {}),
          await attacker.post(`${path}/rerun`, { status: "failed" }),
        ];
        for (const answer of replies) refuses(answer, 404, "NOT_FOUND");
      }
    },
  },
  {
    id: "batches-unapproved",
    title: "a batch by an account that awaits approval",
    attack: async ({ unapproved }) => {
      const answer = await unapproved.session.post(`/api/workflows/${slug}/batches`, { inputs: [{ subject: "a" }] });
      // If the request is repeated often, it reaches the rate limit first.
      if (answer.status !== 429) refuses(answer, 403, "ACCOUNT_NOT_APPROVED");
    },
  },
  {
    id: "batches-raced-cancel",
    title: "a batch that is cancelled many times at once while it begins",
    requests: CANCELS + 1,
    attack: async ({ unlimited }) => {
      const inputs = Array.from({ length: 20 }, () => ({ subject: "a" }));
      const id: string = pick(answers(await unlimited.post(`/api/workflows/${slug}/batches`, { inputs }), 202), "batchId");
      const cancelled = await Promise.all(Array.from({ length: CANCELS }, () => unlimited.post(`/api/batches/${id}/cancel`)));
      const statuses = cancelled.map((answer) => pick<string>(answers(answer, 200), "status"));
      assert.ok(
        statuses.every((status) => ["cancel_requested", "cancelled", "completed"].includes(status)),
        statuses.join(),
      );
    },
  },
];
