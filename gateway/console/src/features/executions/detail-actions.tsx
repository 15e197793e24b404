import type { Execution } from "@nodeloom/client";
import { Link, useNavigate } from "@tanstack/react-router";
import { CircleCheck, CircleStop, RotateCcw, Trash2, Workflow } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client";
import { useChange } from "../../api/use-change";
import { ConfirmDialog } from "../../parts/form";
import { TemporalLink } from "../../runs/temporal-link";
import { Button, buttonClasses } from "../../ui/button";
import { COMMON } from "../../messages/common";
import { DETAIL_PAGE } from "../../messages/executions";

export const isGoing = ({ status }: Execution): boolean => status === "processing" || status === "cancel_requested";

const DeleteDialog = ({ executionId, onClose }: { executionId: string; onClose: () => void }) => {
  const navigate = useNavigate();
  const remove = async (): Promise<void> => {
    await api.executions.delete(executionId);
    await navigate({ to: "/executions" });
  };
  return (
    <ConfirmDialog
      title={DETAIL_PAGE.deleteThisRun}
      action={COMMON.delete}
      text={DETAIL_PAGE.deleteHint}
      reads={["executions", "files", "usage"]}
      submit={remove}
      successText={DETAIL_PAGE.runDeleted}
      onClose={onClose}
    />
  );
};

export const Actions = ({ execution }: { execution: Execution }) => {
  const { busy, run } = useChange("execution", "executions", "me");
  const { executionId, workflowSlug } = execution;
  const [isDeleting, setDeleting] = useState(false);
  return (
    <>
      {isDeleting && <DeleteDialog executionId={executionId} onClose={() => setDeleting(false)} />}
      <TemporalLink executionId={executionId} />
      {isGoing(execution) && (
        <Button
          icon={CircleStop}
          busy={busy}
          disabled={execution.status === "cancel_requested"}
          onClick={() => void run(() => api.cancel(executionId), DETAIL_PAGE.cancellingTheRun)}
        >
          {COMMON.cancel}
        </Button>
      )}
      {!isGoing(execution) && (
        <Button icon={Trash2} onClick={() => setDeleting(true)}>
          {COMMON.deleteMenu}
        </Button>
      )}
      {workflowSlug !== null && execution.status === "completed" && (
        <Link
          to="/workflows/$slug"
          params={{ slug: workflowSlug }}
          search={{ run: executionId, panel: "test" }}
          className={buttonClasses("secondary")}
        >
          <CircleCheck className="size-4" aria-hidden /> {DETAIL_PAGE.saveAsTest}
        </Link>
      )}
      {workflowSlug !== null && !isGoing(execution) && (
        <Link to="/workflows/$slug" params={{ slug: workflowSlug }} search={{ run: executionId }} className={buttonClasses("secondary")}>
          <RotateCcw className="size-4" aria-hidden /> {DETAIL_PAGE.runAgain}
        </Link>
      )}
      {workflowSlug !== null && (
        <Link
          to="/workflows/$slug"
          params={{ slug: workflowSlug }}
          search={{ run: executionId, node: execution.error?.nodeId }}
          className={buttonClasses("primary")}
        >
          <Workflow className="size-4" aria-hidden /> {DETAIL_PAGE.openWorkflow}
        </Link>
      )}
    </>
  );
};
