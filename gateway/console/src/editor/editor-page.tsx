import type { Me, Model } from "@nodeloom/client";
import { PLANS } from "@nodeloom/kernel/plans";
import { nodeResults, nodeSchema } from "@nodeloom/kernel/graph";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ReactFlowProvider } from "@xyflow/react";
import { Suspense, useEffect, useMemo, useState } from "react";
import "../styles/canvas.css";
import { LoadFailure, Loading, NotThere } from "../parts/error-pages";
import { meQuery, modelsQuery, tasksQuery } from "../api/queries";
import { modelTerms } from "../canvas/judge";
import type { PortRules } from "../canvas/ports";
import { Tabs } from "../ui/tabs";
import { Board } from "./board/board";
import type { Stage } from "./commands/command";
import { EditorProvider, useDocument, useEditor, useUi, type Editor } from "./context";
import { Outline } from "./panels/outline";
import { Overlays } from "./overlays";
import {
  AssistantPanel,
  Conflicts,
  Inspector,
  Library,
  loadPanels,
  NodeMenu,
  Palette,
  ProblemsPanel,
  RunPanel,
  SettingsDialog,
} from "./panels/lazy-panels";
import { PaletteWaiting } from "./panels/palette-box";
import { SaveFailure } from "./save-state";
import { BoardTools, Toolbar } from "./toolbar";
import { createScene } from "./scene/scene";
import { createUi, type Panel } from "./ui-store";
import { modelTitles } from "./titles";
import { useOpenDocument, type OpenState } from "./use-open-document";
import { useKeptInputs } from "./kept-inputs";
import { useOpenedRun } from "./use-opened-run";
import { useShortcuts } from "./commands/use-shortcuts";
import { useEndNotice } from "./running/use-end-notice";
import { useFirstFit } from "./board/use-first-fit";
import { useStage } from "./board/use-stage";
import { EDITOR_PAGE } from "../messages/editor/page";

const route = getRouteApi("/shell/workflows/$slug");

/** The last one is for users who can change the workflow. */
const PANELS = [
  { name: "node", title: EDITOR_PAGE.node },
  { name: "run", title: EDITOR_PAGE.run },
  { name: "problems", title: EDITOR_PAGE.problems },
  { name: "assistant", title: EDITOR_PAGE.assistant },
] as const;

const SidePanel = ({ stage }: { stage: Stage }) => {
  const { ui, document, canEdit } = useEditor();
  const panel = useUi((state) => state.panel);
  const open = useUi((state) => state.panelOpen);
  if (!open) return null;
  const show = (nodeId: string): void => {
    document.select([nodeId]);
    stage.fit([nodeId]);
    ui.setState({ panel: "node" });
  };
  return (
    <aside
      aria-label={EDITOR_PAGE.sidePanel}
      className="flex w-90 shrink-0 flex-col border-l bg-surface max-md:absolute max-md:inset-x-0 max-md:bottom-0 max-md:z-20 max-md:h-[62%] max-md:w-full max-md:rounded-t-2xl max-md:border-t max-md:shadow-high"
    >
      <Tabs<Panel>
        label={EDITOR_PAGE.sidePanel}
        tabs={canEdit ? PANELS : PANELS.slice(0, -1)}
        chosen={panel}
        onChoose={(name) => ui.setState({ panel: name })}
        className="flex-1"
      >
        <div className="h-full overflow-y-auto" tabIndex={-1}>
          {/* By its name, so that a panel is gone while the next one's code is on its way. */}
          <Suspense key={panel} fallback={null}>
            {panel === "node" && <Inspector stage={stage} />}
            {panel === "run" && <RunPanel />}
            {panel === "problems" && <ProblemsPanel onShow={show} />}
            {panel === "assistant" && <AssistantPanel stage={stage} />}
          </Suspense>
        </div>
      </Tabs>
    </aside>
  );
};

const Workbench = ({ viewport }: { viewport: OpenState["workflow"]["viewport"] }) => {
  const editor = useEditor();
  const stage = useStage(editor);
  const { slug, document, ui } = editor;
  useShortcuts(editor, stage);
  useEffect(loadPanels, []);
  useEffect(() => () => ui.getState().stopAssistant?.(), [ui]);
  const { run, node, panel } = route.useSearch();
  useKeptInputs(editor, run);
  useOpenedRun(editor, run);
  useEndNotice();
  useEffect(() => {
    if (panel === "run") ui.setState({ panel: "run", panelOpen: true });
    if (panel === "test") ui.setState({ overlay: "tests", testedRun: run });
  }, [ui, panel, run]);
  useEffect(() => {
    if (node !== undefined) document.select([node]);
  }, [document, node]);
  const isTouched = useFirstFit(stage, viewport);
  return (
    <div className="flex h-full flex-col">
      <Toolbar stage={stage} />
      <SaveFailure />
      <div className="relative flex min-h-0 flex-1 max-md:flex-col">
        <Outline />
        <div className="relative min-h-0 min-w-0 flex-1">
          <Board stage={stage} viewport={viewport} onViewport={(moved) => isTouched.current && rememberViewport(slug, moved)} />
          <BoardTools stage={stage} />
          <EmptyBoard stage={stage} />
          <LibraryPanel stage={stage} />
        </div>
        <SidePanel stage={stage} />
      </div>
      <Overlays stage={stage} />
      <Suspense fallback={<PaletteWaiting />}>
        <Palette />
      </Suspense>
      <Suspense fallback={null}>
        <NodeMenu stage={stage} />
        <SettingsDialog />
        <Conflicts />
      </Suspense>
    </div>
  );
};

const LibraryPanel = ({ stage }: { stage: Stage }) => {
  const open = useUi((state) => state.library);
  return open ? (
    <Suspense fallback={null}>
      <Library stage={stage} />
    </Suspense>
  ) : null;
};

const EmptyBoard = ({ stage }: { stage: Stage }) => {
  const { canEdit } = useEditor();
  const empty = useDocument(({ graph }) => graph.nodes.length === 0);
  if (!empty || !canEdit) return null;
  return (
    <div className="pointer-events-none absolute inset-0 flex items-center justify-center">
      <button
        type="button"
        className="pointer-events-auto rounded-2xl border border-dashed border-line-strong bg-surface/80 px-8 py-6 text-center hover:bg-surface"
        onClick={stage.openPalette}
      >
        <span className="block font-semibold">{EDITOR_PAGE.addYourFirstNode}</span>
        <span className="mt-1 block text-sm text-muted">{EDITOR_PAGE.slashHint}</span>
        <span className="mt-3 block text-xs text-faint max-md:hidden">{EDITOR_PAGE.dropHint}</span>
      </button>
    </div>
  );
};

/** Storage key of each workflow's last viewport in this browser; the viewport isn't part of the workflow. */
const VIEWPORTS = "nodeloom.viewport.";
const NEVER_SEEN = { x: 0, y: 0, zoom: 1 };
/** If the window is narrower than this share of before, the whole workflow is shown. */
const NARROWED = 0.85;
const rememberViewport = (slug: string, viewport: OpenState["workflow"]["viewport"]): void => {
  try {
    localStorage.setItem(`${VIEWPORTS}${slug}`, JSON.stringify({ ...viewport, width: innerWidth }));
  } catch {
    // Without storage, the viewport saved earlier is used next time.
  }
};
const knownViewport = (slug: string, saved: OpenState["workflow"]["viewport"]): OpenState["workflow"]["viewport"] => {
  try {
    const stored = JSON.parse(localStorage.getItem(`${VIEWPORTS}${slug}`) ?? "null") as Partial<typeof saved & { width: number }> | null;
    const { x, y, zoom, width = innerWidth } = stored ?? {};
    if (innerWidth < width * NARROWED) return NEVER_SEEN;
    return typeof x === "number" && typeof y === "number" && typeof zoom === "number" ? { x, y, zoom } : saved;
  } catch {
    return saved;
  }
};

/** Members of a model that affect drawing and prices. */
const drawnBy = ({ internalName, displayName, enabled, modality, provider, price, inputSchema, outputs }: Model): unknown[] => [
  ...[internalName, displayName, enabled, modality, provider, price, inputSchema, outputs],
];

/** A list of models that keeps its identity, so that download progress doesn't render the canvas again. */
const useSteady = (models: readonly Model[] | undefined): readonly Model[] | undefined => {
  const [steady, setSteady] = useState(models);
  const isSame =
    steady?.length === models?.length &&
    models?.every((model, at) => {
      const before = drawnBy(steady![at]!);
      return drawnBy(model).every((part, index) => part === before[index]);
    }) === true;
  if (steady !== models && !isSame) setSteady(models);
  return isSame ? steady : models;
};

const OpenEditor = ({ slug, me, opened }: { slug: string; me: Me; opened: OpenState }) => {
  const models = useQuery(modelsQuery);
  const [ui] = useState(createUi);
  const { data: tasks } = useQuery(tasksQuery);
  const list = models.data;
  const steady = useSteady(list);
  const { tier } = me.user;
  const { document } = opened;
  const scene = useMemo(() => {
    const terms = modelTerms(steady ?? [], tasks);
    const rules: PortRules = { schemaOf: (node) => nodeSchema(node, terms), resultsOf: (node) => nodeResults(node, terms) };
    const markupPermille = tier in PLANS ? PLANS[tier as keyof typeof PLANS].markupPermille : undefined;
    const modelTitle = modelTitles(steady ?? []);
    return { ...createScene({ slug, document, ui, terms, ...rules, markupPermille, modelTitle }), terms, rules, markupPermille };
  }, [slug, document, ui, steady, tasks, tier]);
  const editor = useMemo(
    (): Editor => ({
      ...{ slug, me, document, ui, scene, terms: scene.terms, ...scene.rules, markupPermille: scene.markupPermille },
      canEdit: opened.canEdit,
      takenDown: opened.workflow.info.takedown?.reason,
      models: list ?? [],
    }),
    [slug, me, document, opened, ui, scene, list],
  );
  useEffect(() => scene.start(), [scene]);
  // Ports depend on models' schemas: without the models, ports would jump and nodes would report unknown models.
  if (models.isPending) return <Loading />;
  if (list === undefined)
    return (
      <div className="mx-auto max-w-2xl px-4 py-16">
        <LoadFailure error={models.error} retry={() => void models.refetch()} />
      </div>
    );
  return (
    <EditorProvider value={editor}>
      <ReactFlowProvider>
        <Workbench viewport={knownViewport(slug, opened.workflow.viewport)} />
      </ReactFlowProvider>
    </EditorProvider>
  );
};

export const EditorPage = () => {
  const { slug } = route.useParams();
  const { data: me } = useSuspenseQuery(meQuery);
  if (!me) return null;
  return <EditorOf key={slug} slug={slug} me={me} />;
};

const EditorOf = ({ slug, me }: { slug: string; me: Me }) => {
  const { opened, error, retry } = useOpenDocument(slug, me);
  if (opened) return <OpenEditor slug={slug} me={me} opened={opened} />;
  if (error === undefined) return <Loading />;
  return (
    <NotThere error={error} retry={retry} title={EDITOR_PAGE.workflowNotFound} list={{ to: "/", title: EDITOR_PAGE.goToWorkflows }}>
      {EDITOR_PAGE.notFoundHint}
    </NotThere>
  );
};
