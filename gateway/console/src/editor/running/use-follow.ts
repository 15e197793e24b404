import { useQueryClient } from "@tanstack/react-query";
import { afterRun } from "../../api/queries";
import { nodeById, type DocGraph } from "../../document/graph";
import { useLive, watchRun } from "../../runs/live";
import { itemMs, rememberSpeeds } from "../../runs/speeds";
import { useEditor } from "../context";
import { rememberPrints } from "../scene/fingerprints";

/** Stores how long the models of the shown run took. */
const learnSpeeds = (slug: string, graph: DocGraph): void => {
  const nodes = [...(useLive.getState().runs[slug]?.nodes.values() ?? [])];
  rememberSpeeds(
    nodes.flatMap((node) => {
      const [model, ms] = [nodeById(graph, node.id)?.data.model, itemMs(node)];
      return typeof model === "string" && ms !== undefined ? [[model, ms] as const] : [];
    }),
  );
};

/** Makes the canvas follow a started run. */
export const useFollow = () => {
  const { slug, document } = useEditor();
  const client = useQueryClient();
  return (executionId: string, graph = document.store.getState().graph): void => {
    rememberPrints(slug, executionId, graph);
    watchRun(slug, executionId, () => {
      afterRun(client);
      learnSpeeds(slug, graph);
    });
    afterRun(client);
  };
};
