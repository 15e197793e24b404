import type { Execution } from "@nodeloom/client";
import { useNavigate } from "@tanstack/react-router";
import { RunAgain } from "../../runs/again/run-again";
import { Card } from "../../ui/page";
import { AGAIN_CARD } from "../../messages/executions";

/** Reruns the same graph with the same inputs. The canvas offers other inputs. */
export const AgainCard = ({ execution }: { execution: Execution }) => {
  const navigate = useNavigate();
  return (
    <Card title={AGAIN_CARD.reuseUnchanged}>
      <RunAgain execution={execution} onStarted={(id) => void navigate({ to: "/executions/$id", params: { id } })} />
    </Card>
  );
};
