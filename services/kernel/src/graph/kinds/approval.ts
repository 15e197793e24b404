import { isLonger, LIMITS, ONE_LINE, ONE_LINE_FORM } from "../../limits";
import { GRAPH_BOUNDS } from "../bounds";
import { isRole } from "../../access/organizations";
import { joined, type Abstract } from "../plan/abstract";
import { longTexts } from "../plan/check-texts";
import { buildStep } from "../plan/plan-step";
import { abstractSources, type Planner } from "../plan/planner";
import { NOTHING_PLANNED } from "../plan/plan-types";
import { findingInWords } from "../../issues";
import type { GraphNode } from "../types";
import type { NodeKind } from "./kind";

export const APPROVED_PORT = "approved";
export const REJECTED_PORT = "rejected";

/** Maximum total time of waits for decisions in one run, in hours. */
export const WAITING_HOURS = LIMITS.waitingHours;

const ON_TIMEOUT = ["reject", "approve"] as const;
/** The decision when a wait times out. */
export type OnTimeout = (typeof ON_TIMEOUT)[number];

const DEFAULT_HOURS = 72;
const DEFAULT_TITLE = "Approve?";

export interface ApprovalSettings {
  title: string;
  instructions: string;
  timeoutHours: number;
  onTimeout: OnTimeout;
  /** Ids of members, roles or email addresses that can decide. Empty if everyone who can run the workflow can decide. */
  approvers: readonly string[];
  /** True if the person who started the run can't decide. */
  notStarter: boolean;
}

const MAX_APPROVERS = 10;
/** An id or an address. */
const APPROVER = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[^\s@{}<>]{1,64}@[^\s@{}<>]{1,189})$/;
const APPROVERS_FORM = `must be at most ${MAX_APPROVERS} ids of members, roles or e-mail addresses`;

const isApprover = (value: unknown): value is string => typeof value === "string" && (isRole(value) || APPROVER.test(value.toLowerCase()));
const isApprovers = (value: unknown): value is string[] => Array.isArray(value) && value.length <= MAX_APPROVERS && value.every(isApprover);

const isText = (value: unknown, most: number): value is string => typeof value === "string" && !isLonger(value, most);
const isHours = (value: unknown): value is number => typeof value === "number" && value > 0 && value <= WAITING_HOURS;
const isOnTimeout = (value: unknown): value is OnTimeout => (ON_TIMEOUT as readonly unknown[]).includes(value);

/** The settings of an approval, with defaults filled in. */
export const approvalSettings = ({
  title,
  instructions,
  timeoutHours,
  onTimeout,
  approvers,
  notStarter,
}: Readonly<Record<string, unknown>>): ApprovalSettings => ({
  title: isText(title, LIMITS.nameChars) && title.trim() !== "" ? title : DEFAULT_TITLE,
  instructions: isText(instructions, LIMITS.descriptionChars) ? instructions : "",
  timeoutHours: isHours(timeoutHours) ? timeoutHours : DEFAULT_HOURS,
  onTimeout: isOnTimeout(onTimeout) ? onTimeout : "reject",
  approvers: isApprovers(approvers) ? approvers.map((approver) => approver.toLowerCase()) : [],
  notStarter: notStarter === true,
});

const isGiven = (setting: unknown): boolean => setting !== undefined && setting !== null;

const deciderProblems = ({ approvers, notStarter }: Readonly<Record<string, unknown>>): string[] => [
  ...(isGiven(approvers) && !isApprovers(approvers) ? [`approvers: ${APPROVERS_FORM}`] : []),
  ...(isGiven(notStarter) && typeof notStarter !== "boolean" ? ["notStarter: must be true or false"] : []),
];

const problems = ({ title, instructions, timeoutHours, onTimeout, value, ...deciders }: Readonly<Record<string, unknown>>): string[] => {
  return [
    ...(isGiven(title) && !isText(title, LIMITS.nameChars) ? [`title: must be text of at most ${LIMITS.nameChars} characters`] : []),
    ...(typeof title !== "string" || ONE_LINE.test(title) ? [] : [`title: ${ONE_LINE_FORM}`]),
    ...(isGiven(instructions) && !isText(instructions, LIMITS.descriptionChars)
      ? [`instructions: must be text of at most ${LIMITS.descriptionChars} characters`]
      : []),
    ...(isGiven(timeoutHours) && !isHours(timeoutHours) ? [`timeoutHours: must be a number above 0 and at most ${WAITING_HOURS}`] : []),
    ...(isGiven(onTimeout) && !isOnTimeout(onTimeout) ? [`onTimeout: must be one of ${ON_TIMEOUT.join(", ")}`] : []),
    ...deciderProblems(deciders),
    ...longTexts(value, "value"),
  ];
};

/** Bounds of the approved value. A decision can change the value but can't make a list longer. */
const outputBounds = (planner: Planner, node: GraphNode): Abstract => {
  const wired = abstractSources(planner, node, "value");
  const { value } = node.data;
  const { list, items, most, tokens } = joined(wired.length === 0 && value !== undefined ? [{ value }] : wired);
  return { list, items, most: Math.min(most, GRAPH_BOUNDS.listItems), tokens: Math.max(tokens, LIMITS.changedValueBytes) };
};

export const approval: NodeKind = {
  type: "approval",
  summary:
    "Waits for a person, who approves or rejects a value. It leaves by the port `approved` or `rejected`; nodes behind the other port are skipped.",
  settings: {
    title: { type: "string", maxLength: LIMITS.nameChars, description: "The question, in one line.", default: DEFAULT_TITLE },
    instructions: { type: "string", maxLength: LIMITS.descriptionChars, description: "What the person checks." },
    timeoutHours: {
      type: "number",
      exclusiveMinimum: 0,
      maximum: WAITING_HOURS,
      default: DEFAULT_HOURS,
      description: `Longest wait. All approvals of a run together wait for at most ${WAITING_HOURS} hours.`,
    },
    onTimeout: { enum: [...ON_TIMEOUT], default: "reject", description: "Decision when the time is over." },
    approvers: {
      type: "array",
      items: { type: "string" },
      maxItems: MAX_APPROVERS,
      description:
        "Only these decide: user ids, roles (owner, editor, runner, viewer, each with the roles above it) or confirmed e-mail addresses of members.",
    },
    notStarter: { type: "boolean", default: false, description: "The person who started the run can't decide, nor can service accounts." },
    value: { description: "The value to decide on. A connected value wins." },
  },
  calls: null,
  runs: true,
  waits: true,
  inputs: () => new Map([["value", { type: "any", list: true }]]),
  outputs: () =>
    new Map([
      [APPROVED_PORT, "any"],
      [REJECTED_PORT, "any"],
    ]),
  defaultInput: () => "value",
  check: ({ data }) => problems(data),
  checkAll: (nodes) =>
    nodes.slice(LIMITS.approvals).map(({ id }) => ({
      nodeId: id,
      ...findingInWords("LIMIT_EXCEEDED", `a workflow can have at most ${LIMITS.approvals} approvals, but this one has ${nodes.length}`),
    })),
  plan: (planner, node) => {
    if (problems(node.data).length > 0) return NOTHING_PLANNED;
    const bounds = outputBounds(planner, node);
    return {
      step: buildStep(planner, approval, node),
      isUndecided: true,
      outputs: new Map([
        [APPROVED_PORT, bounds],
        [REJECTED_PORT, bounds],
      ]),
    };
  },
  evaluate: (literals, item, budget) => budget.value(item.value ?? literals.value ?? null),
};
