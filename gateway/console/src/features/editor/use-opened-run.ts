import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { afterRun } from "../../api/queries";
import { useLive, watchRun } from "../../runs/live";
import type { Editor } from "./context";

/**
 * Follows the run that the page's address names, and puts the inputs it had where the next one's are typed, so that it
 * can be run again. What was typed already stays.
 */
export const useOpenedRun = ({ slug, ui }: Editor, id: string | undefined): void => {
  const client = useQueryClient();
  useEffect(() => (id === undefined ? undefined : watchRun(slug, id, () => afterRun(client))), [slug, id, client]);
  useEffect(() => {
    if (id !== undefined) ui.setState({ panel: "run", panelOpen: true });
  }, [ui, id]);
  const inputs = useLive(({ runs }) => {
    const run = runs[slug];
    return run?.executionId === id ? run?.execution?.inputs : undefined;
  });
  useEffect(() => {
    if (inputs && Object.keys(ui.getState().typed).length === 0) ui.setState({ typed: inputs });
  }, [ui, inputs]);
};
