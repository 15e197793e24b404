import type { Execution } from "@nodeloom/client";
import { useNavigate } from "@tanstack/react-router";
import { RunAgain } from "../../runs/again/run-again";
import { Card } from "../../ui/page";

/** The same graph with the same inputs once more; another graph and other inputs are the canvas's. */
export const AgainCard = ({ execution }: { execution: Execution }) => {
  const navigate = useNavigate();
  return (
    <Card title="Pay only for what is new">
      <RunAgain execution={execution} onStarted={(id) => void navigate({ to: "/executions/$id", params: { id } })} />
    </Card>
  );
};
