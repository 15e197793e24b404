import { LIMITS } from "../../limits";
import { GRAPH_BOUNDS } from "../bounds";
import { URL_TOKENS, type Abstract } from "../plan/abstract";
import { hasUrl, HTTP_METHODS, httpCall, httpProblems } from "../http/http-call";
import { isSecret, secretProblems, secretsOfNode } from "../http/secrets";
import { ON_ITEM_ERROR, skipsFailed } from "../plan/item-errors";
import { attempt, tryInputs } from "../plan/planner";
import { buildStep, knownItems, stepItems, warnUnresolved } from "../plan/plan-step";
import { finding, findingInWords } from "../../issues";
import { namedPorts } from "../wiring/ports";
import { placeholdersIn } from "../values/value";
import { nothingWrong, type NodeKind } from "./kind";

/** Maximum tokens of a status code and its separator. */
const STATUS_TOKENS = 4;

export const httpRequest: NodeKind = {
  type: "http-request",
  summary: "Sends an HTTP request and returns the answer: text, JSON, or a file.",
  settings: {
    method: { type: "string", enum: [...HTTP_METHODS], default: "GET" },
    url: { type: "string", description: "Address, with {{placeholders}}. Its path and query can have {{secrets.NAME}}." },
    headers: { type: "object", description: "Names and values, with {{placeholders}} and {{secrets.NAME}}." },
    body: { description: "Text or JSON, with {{placeholders}} and {{secrets.NAME}}. A connected body wins." },
    extract: { type: "string", description: "JSON pointer to the part of the answer that the node returns." },
    failOnStatus: { type: "boolean", default: false, description: "Fails the node if the status of the answer isn't 2xx." },
    maxItems: { type: "integer", minimum: 1, maximum: GRAPH_BOUNDS.listItems },
    onItemError: ON_ITEM_ERROR,
  },
  calls: "http",
  runs: true,
  inputs: ({ data: { url, headers, body } }) =>
    new Map([
      ...namedPorts(
        placeholdersIn([url, headers, body]).filter((name) => !isSecret(name)),
        "any",
      ),
      ["body", { type: "any", list: false }],
    ]),
  outputs: () =>
    new Map([
      ["body", "any"],
      ["status", "number"],
      ["file", "media"],
    ]),
  defaultInput: () => "body",
  check: nothingWrong,
  plan: (planner, node) => {
    const secrets = secretsOfNode(node.data);
    const { innerWorkflow } = node;
    const sending = secrets.length === 0 ? {} : { secrets, ...(innerWorkflow === undefined ? {} : { innerWorkflow }) };
    const step = { ...buildStep(planner, httpRequest, node), ...sending };
    warnUnresolved(planner, step);
    const bound = knownItems(planner, node, step);
    const calls = bound.complete
      ? attempt(planner, node.id, () => tryInputs(planner, () => bound.items.map((item) => httpCall(step, item, planner.budget))))
      : undefined;
    const problems = secrets.length > 0 ? secretProblems(secrets, node.data.url) : [];
    const settings = [...problems, ...httpProblems(step.literals, calls)].map((message) => findingInWords("SETTING_INVALID", message));
    const findings = [...settings, ...(hasUrl(step.literals) ? [] : [finding("URL_MISSING")])];
    planner.issues.push(...findings.map((one) => ({ nodeId: node.id, ...one })));
    const { items, limit, mapped } = stepItems(planner, node, step, bound);
    planner.budget.calls(items);
    const outputs = new Map<string, Abstract>([
      // A response body can be a list.
      ["body", { list: true, items, most: GRAPH_BOUNDS.listItems, tokens: LIMITS.textValueBytes }],
      ["status", { list: mapped, items, most: limit, tokens: limit * STATUS_TOKENS }],
      ["file", { list: mapped, items, most: limit, tokens: limit * URL_TOKENS }],
    ]);
    return { step: { ...step, ...skipsFailed(node), maxItems: items, itemLimit: limit }, outputs };
  },
  savedCount: () => 1,
  savedOpen: (_node, port) => port === null || port === "body",
};
