import { executions } from "@nodeloom/proto";
import type { ExecutionView } from "../run/record";
import type { Approval } from "../run/approvals";

const valueOf = (
  { nodeId, value, truncated }: Approval,
  values: ReadonlyMap<string, string> | undefined,
): Partial<executions.WaitingFor> => {
  const json = value && ("json" in value ? value.json : values?.get(nodeId));
  // Lists omit long values in the same way as values that are too long to store.
  return json === undefined ? { truncated: value !== undefined || truncated === true } : { valueJson: json };
};

/** @param values long values by node, which aren't in the row; absent if they aren't shown */
export const waitingForMessages = (
  { waits = [], waitingFor = [] }: ExecutionView,
  values?: ReadonlyMap<string, string>,
): executions.WaitingFor[] =>
  waits
    .filter(({ nodeId }) => waitingFor.includes(nodeId))
    .map((approval) => {
      const { nodeId, title, instructions, since, until, onTimeout } = approval;
      const { approvers = [], notStarter } = approval;
      const deciders = { approvers: [...approvers], notStarter };
      return executions.WaitingFor.fromPartial({
        ...{ nodeId, title, instructions, since, until, onTimeout, ...deciders },
        ...valueOf(approval, values),
      });
    });

export const decidedMessages = ({ decisions = [] }: ExecutionView): executions.Decided[] =>
  decisions.map(({ value: _, ...decision }) => executions.Decided.fromPartial(decision));
