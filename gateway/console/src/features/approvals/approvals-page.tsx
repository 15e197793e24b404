import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { UserCheck } from "lucide-react";
import { Loaded } from "../../parts/loaded";
import { executionsQuery } from "../../api/queries";
import { DecisionCard } from "../../runs/approvals/decision-card";
import { Empty } from "../../ui/notice";
import { Card, Page } from "../../ui/page";
import { Time } from "../../ui/time";
import { useWorkflowNames } from "../../parts/workflow-names";
import { COMMON } from "../../messages/common";
import { APPROVALS_PAGE } from "../../messages/approvals";

const PAGE = 50;

/** Decisions waiting for the person, newest run first. */
export const ApprovalsPage = () => {
  const runs = useQuery(executionsQuery({ waiting: "true", limit: PAGE }));
  const nameOf = useWorkflowNames();
  return (
    <Page title={COMMON.approvals} lead={APPROVALS_PAGE.subtitle}>
      <Loaded of={runs} lines={8}>
        {({ rows, nextCursor }) => (
          <>
            {rows.length === 0 && (
              <Empty icon={UserCheck} title={APPROVALS_PAGE.nothingToApprove}>
                {APPROVALS_PAGE.emptyHint}
              </Empty>
            )}
            <div className="grid gap-5 lg:grid-cols-2">
              {rows.map(({ executionId, workflowSlug, createdAt, waitingFor = [] }) => (
                <Card
                  key={executionId}
                  title={
                    <Link to="/executions/$id" params={{ id: executionId }} className="text-accent-text hover:underline">
                      {workflowSlug === null ? executionId : nameOf(workflowSlug)}
                    </Link>
                  }
                  actions={
                    <span className="text-xs text-faint">
                      {APPROVALS_PAGE.started} <Time iso={createdAt} />
                    </span>
                  }
                >
                  <div className="flex flex-col gap-5">
                    {waitingFor.map((waiting) => (
                      <DecisionCard key={waiting.nodeId} executionId={executionId} waiting={waiting} isPlain />
                    ))}
                  </div>
                </Card>
              ))}
            </div>
            {nextCursor !== null && <p className="mt-4 text-sm text-muted">{APPROVALS_PAGE.moreWaiting}</p>}
          </>
        )}
      </Loaded>
    </Page>
  );
};
