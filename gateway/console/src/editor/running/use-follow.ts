import { useQueryClient } from "@tanstack/react-query";
import { afterRun } from "../../api/queries";
import { watchRun } from "../../runs/live";
import { useEditor } from "../context";
import { rememberPrints } from "../scene/fingerprints";

/** Has the canvas follow a run that was started. */
export const useFollow = () => {
  const { slug, document } = useEditor();
  const client = useQueryClient();
  return (executionId: string, graph = document.store.getState().graph): void => {
    rememberPrints(slug, executionId, graph);
    watchRun(slug, executionId, () => afterRun(client));
    afterRun(client);
  };
};
