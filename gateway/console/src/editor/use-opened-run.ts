import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { afterRun } from "../api/queries";
import { previewOf } from "../canvas/kinds";
import { nodesOf } from "../document/graph";
import { useLive, watchRun } from "../runs/live";
import { loadLatestOutputs } from "../runs/latest-outputs";
import { isWhole } from "../runs/whole/whole";
import { graphOf } from "./chosen";
import type { Editor } from "./context";

/**
 * Follows the run in the page's address. Its inputs fill the form for the next run, unless the user has typed some. If the address has no
 * run, a run in progress is followed, and nodes show their latest outputs.
 */
export const useOpenedRun = (editor: Editor, id: string | undefined): void => {
  const { slug, ui } = editor;
  const client = useQueryClient();
  useEffect(() => (id === undefined ? undefined : watchRun(slug, id, () => afterRun(client))), [slug, id, client]);
  useEffect(() => {
    const abort = new AbortController();
    let stop = (): void => undefined;
    const nodeIds = nodesOf(graphOf(editor)).flatMap((node) => (previewOf(node.type) === "none" && !isWhole(node.type) ? [] : [node.id]));
    void loadLatestOutputs(slug, nodeIds, abort.signal).then(
      ({ going, last }) => {
        if (!abort.signal.aborted) ui.setState({ lastRun: last ?? null });
        const isFree = id === undefined && useLive.getState().runs[slug] === undefined;
        if (going === undefined || abort.signal.aborted || !isFree) return;
        ui.setState({ panel: "run" });
        stop = watchRun(slug, going, () => afterRun(client));
      },
      // A workflow can be edited and run without its earlier results.
      () => {
        if (!abort.signal.aborted) ui.setState({ lastRun: null });
      },
    );
    return () => {
      abort.abort();
      stop();
    };
    // Changes in other parts of the editor must not load the run again.
  }, [slug, id, ui, client]);
  useEffect(() => {
    if (id !== undefined) ui.setState({ panel: "run", panelOpen: true });
  }, [ui, id]);
  const inputs = useLive(({ runs }) => {
    const run = runs[slug];
    return id === undefined || run?.executionId === id ? run?.execution?.inputs : undefined;
  });
  useEffect(() => {
    if (inputs && Object.keys(ui.getState().typed).length === 0) ui.setState({ typed: inputs });
  }, [ui, inputs]);
};
