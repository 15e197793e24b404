import assert from "node:assert/strict";
import { answers, pick, refuses } from "../../conformance/check";
import { unique } from "../../conformance/context";
import { greeting, save } from "../../conformance/graphs";
import type { AbuseCase } from "../case";

const KIB = 1024;
const WRONG_PASSWORDS = 12;
const TEMPLATES = 24;
/** Limit for 24 templates with the largest thumbnails, which inline would take 1.5 MB. */
const LISTED_BYTES = 100 * KIB;
const THUMBNAIL = `data:image/png;base64,${Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(45 * KIB)]).toString("base64")}`;

let unapprovedSlug = "";
const published: string[] = [];

export const accountCases: AbuseCase[] = [
  {
    id: "accounts-unapproved",
    title: "quotes, runs, templates and keys of an account that awaits approval",
    requests: 5,
    prepare: async ({ unapproved }) => {
      unapprovedSlug = await save(unapproved.session, greeting());
    },
    attack: async ({ unapproved }) => {
      const template = { name: "Everybody's", isTemplate: true };
      const own = `/api/workflows/${unapprovedSlug}`;
      const replies = [await unapproved.session.post("/api/workflows", template), await unapproved.session.put(own, template)];
      for (const path of ["quote", "run", "run?async=true"]) replies.push(await unapproved.session.post(`${own}/${path}`, { inputs: {} }));
      for (const answer of replies) if (answer.status !== 429) refuses(answer, 403, "ACCOUNT_NOT_APPROVED");
    },
  },
  {
    id: "accounts-covers",
    title: "templates with scripts, trackers and megabytes as their pictures",
    requests: 4,
    attack: async ({ unlimited }) => {
      const pictures = [
        { cover: { image: "javascript:alert(1)" } },
        { cover: { image: "https://tracker.example/pixel.gif" } },
        { thumbnail: "https://tracker.example/pixel.gif" },
        { thumbnail: `data:image/png;base64,${"A".repeat(100 * KIB)}` },
      ];
      for (const picture of pictures) {
        refuses(await unlimited.post("/api/workflows", { name: "Cover", isTemplate: true, ...picture }), 400, "INVALID_REQUEST");
      }
    },
  },
  {
    id: "accounts-thumbnails",
    title: "24 templates with the largest thumbnails in everybody's list",
    prepare: async ({ unlimited }) => {
      for (let savedCount = 0; savedCount < TEMPLATES; savedCount += 1) {
        published.push(await save(unlimited, { name: `Large ${unique()}`, isTemplate: true, thumbnail: THUMBNAIL }));
      }
    },
    attack: async ({ victim }) => {
      const list = answers(await victim.session.get("/api/workflows"), 200);
      assert.ok(list.text.includes(published[0]!), "the template is not in the list");
      assert.ok(list.text.length < LISTED_BYTES, `${list.text.length} characters`);
    },
    cleanUp: async ({ unlimited }) => {
      for (const slug of published.splice(0)) await unlimited.delete(`/api/workflows/${slug}`);
    },
  },
  {
    id: "accounts-slugs",
    title: "the slug of somebody's deleted workflow, whose callers still call it",
    attack: async ({ attacker, victim }) => {
      const name = `Gone ${unique()}`;
      const slug = await save(victim.session, { ...greeting(), name });
      answers(await victim.session.delete(`/api/workflows/${slug}`), 204);
      const reply = await attacker.session.post("/api/workflows", { name });
      if (reply.status !== 429) assert.equal(pick(answers(reply, 201), "slug"), `${slug}-2`);
      answers(await victim.session.post(`/api/workflows/${slug}/run`, { inputs: {} }), 404);
    },
  },
  {
    id: "accounts-wrong-passwords",
    title: "a dozen wrong passwords for somebody's account",
    requests: WRONG_PASSWORDS,
    attack: async ({ context, victim }) => {
      for (let turn = 0; turn < WRONG_PASSWORDS; turn += 1) {
        const answer = await context.anonymous.post("/api/auth/login", { email: victim.email, password: `wrong password ${turn}` });
        if (answer.status !== 429) refuses(answer, 401, "UNAUTHENTICATED");
      }
      answers(await victim.session.get("/api/whoami"), 200);
    },
  },
  {
    id: "accounts-weak-passwords",
    title: "accounts with common, short and endless passwords",
    requests: 3,
    attack: async ({ context }) => {
      for (const password of ["password123", "short", "x".repeat(50 * KIB)]) {
        const answer = await context.anonymous.post("/api/auth/register", { email: `${unique()}@abuse.test`, password });
        if (answer.status !== 429) refuses(answer, 400, "INVALID_REQUEST");
      }
    },
  },
];
