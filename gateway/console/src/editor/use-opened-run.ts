import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { afterRun } from "../api/queries";
import { previewOf } from "../canvas/kinds";
import { nodesOf } from "../document/graph";
import { useLive, watchRun } from "../runs/live";
import { loadMade } from "../runs/made";
import { isWhole } from "../runs/whole/whole";
import { graphOf } from "./chosen";
import type { Editor } from "./context";

/**
 * Follows the run that the page's address names. The inputs of a run that is shown are put where the next one's are typed, so that it
 * can be run again. What was typed already stays. Without one, a run that is under way is followed, and nodes show what
 * they made last.
 */
export const useOpenedRun = (editor: Editor, id: string | undefined): void => {
  const { slug, ui } = editor;
  const client = useQueryClient();
  useEffect(() => (id === undefined ? undefined : watchRun(slug, id, () => afterRun(client))), [slug, id, client]);
  useEffect(() => {
    const abort = new AbortController();
    let stop = (): void => undefined;
    const wanted = nodesOf(graphOf(editor)).flatMap((node) => (previewOf(node.type) === "none" && !isWhole(node.type) ? [] : [node.id]));
    void loadMade(slug, wanted, abort.signal).then(
      ({ going, last }) => {
        if (!abort.signal.aborted) ui.setState({ lastRun: last });
        const isFree = id === undefined && useLive.getState().runs[slug] === undefined;
        if (going === undefined || abort.signal.aborted || !isFree) return;
        ui.setState({ panel: "run" });
        stop = watchRun(slug, going, () => afterRun(client));
      },
      // Without its earlier results a workflow is edited and run as well.
      () => undefined,
    );
    return () => {
      abort.abort();
      stop();
    };
    // The editor's other parts change while a document is open.
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
