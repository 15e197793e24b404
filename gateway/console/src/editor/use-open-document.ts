import type { Me } from "@nodeloom/client";
import { useEffect, useState } from "react";
import { isSignedOut } from "../api/client";
import { browserDrafts } from "../api/drafts";
import { mayAs, ownerIdOf, ownerOf } from "../api/organization";
import { onSignIn } from "../api/session";
import { loadWorkflow, workflowRemote, type OpenedWorkflow } from "../api/workflow-remote";
import { openDocument, type OpenDocument } from "../document/document";
import { layOut } from "../canvas/layout";
import { withPlaces } from "../canvas/places";
import type { Drafts } from "../document/remote";
import type { Timers } from "../document/write-queue";

const timers: Timers = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Other users' templates are read-only, so they have no drafts. */
const NO_DRAFTS: Drafts & { release(): void } = {
  put: () => Promise.resolve(),
  take: () => Promise.resolve([]),
  clear: () => Promise.resolve(),
  release: () => undefined,
};

export interface OpenState {
  document: OpenDocument;
  workflow: OpenedWorkflow;
  canEdit: boolean;
}

type Stop = () => void;

/** Saves when the page is hidden, and checks for newer revisions when it returns. */
const onPage = (document: OpenDocument): Stop => {
  const visibility = (): void => {
    if (window.document.hidden) void document.flush();
    else {
      document.retry();
      void document.refresh().catch(() => undefined);
    }
  };
  const online = (): void => document.retry();
  const leave = (event: BeforeUnloadEvent): void => {
    if (["saved", "saving"].includes(document.store.getState().write.kind)) return;
    event.preventDefault();
  };
  const leaveSession = onSignIn(() => document.retry());
  window.document.addEventListener("visibilitychange", visibility);
  window.addEventListener("online", online);
  window.addEventListener("beforeunload", leave);
  return () => {
    leaveSession();
    window.document.removeEventListener("visibilitychange", visibility);
    window.removeEventListener("online", online);
    window.removeEventListener("beforeunload", leave);
  };
};

const open = async (slug: string, me: Me): Promise<OpenState & { close(): Promise<void> }> => {
  const remote = workflowRemote(slug);
  const loaded = await loadWorkflow(slug);
  const workflow = { ...loaded, graph: await withPlaces(loaded.graph, layOut) };
  const canEdit = ownerOf(workflow.info) === ownerIdOf(me) && mayAs(me, "editor");
  const drafts = canEdit && "locks" in navigator ? await browserDrafts(me.user.id, slug) : NO_DRAFTS;
  const document = await openDocument({
    loaded: workflow,
    remote: {
      ...remote,
      load: async () => {
        const now = await remote.load();
        return { ...now, graph: await withPlaces(now.graph, layOut) };
      },
    },
    drafts,
    timers,
    mayWrite: () => !window.document.hidden,
  });
  const leavePage = onPage(document);
  return {
    document,
    workflow,
    canEdit,
    close: async () => {
      leavePage();
      await document.flush();
      document.close();
      drafts.release();
    },
  };
};

/** Opens a workflow while its page is shown; unsaved changes are saved when it closes. */
export const useOpenDocument = (slug: string, me: Me): { opened: OpenState | undefined; error: unknown; retry: () => void } => {
  const [state, setState] = useState<{ opened?: OpenState; error?: unknown }>({});
  const [attempt, setAttempt] = useState(0);
  const userId = me.user.id;
  useEffect(() => {
    let isGone = false;
    setState({});
    const opening = open(slug, me);
    opening.then(
      (opened) => !isGone && setState({ opened }),
      (error: unknown) => !isGone && setState({ error }),
    );
    return () => {
      isGone = true;
      void opening.then(({ close }) => close()).catch(() => undefined);
    };
    // A changed balance must not open the document again.
  }, [slug, userId, attempt]);
  const isSignInNeeded = isSignedOut(state.error);
  useEffect(() => (isSignInNeeded ? onSignIn(() => setAttempt((before) => before + 1)) : undefined), [isSignInNeeded]);
  return { opened: state.opened, error: state.error, retry: () => setAttempt(attempt + 1) };
};
