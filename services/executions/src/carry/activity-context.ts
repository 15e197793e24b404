import type { ActivityInterceptorsFactory } from "@temporalio/worker";
import { withRequestContext } from "@nodeloom/platform";

const EXECUTION_ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** What activities log, and what they call, tells of the run that it is for: workflows have its id, or one made of it. */
export const aboutExecution: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: (input, next) => {
      const [executionId] = EXECUTION_ID.exec(info.workflowExecution?.workflowId ?? "") ?? [];
      return executionId === undefined ? next(input) : withRequestContext({ requestId: executionId, executionId }, () => next(input));
    },
  },
});
