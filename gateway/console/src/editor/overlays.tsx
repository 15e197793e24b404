import { lazy, Suspense, useEffect, type ReactNode } from "react";
import type { Stage } from "./commands/commands";
import { useEditor, useUi } from "./context";
import type { OverlayProps } from "./dialogs/lists";

/** Loaded after the canvas, so that they also open without a network. */
const loadLists = () => import("./dialogs/lists");
const CommandList = lazy(async () => ({ default: (await loadLists()).CommandList }));
const NodeList = lazy(async () => ({ default: (await loadLists()).NodeList }));
const ConnectList = lazy(async () => ({ default: (await loadLists()).ConnectList }));
const Help = lazy(async () => ({ default: (await loadLists()).Help }));
const loadVersions = async () => ({ default: (await import("./versions/versions-dialog")).VersionsDialog });
const loadApi = async () => ({ default: (await import("./dialogs/use-as-api")).UseAsApi });
const loadSubgraph = async () => ({ default: (await import("./subgraph/subgraph-dialog")).SubgraphDialog });
const loadSweep = async () => ({ default: (await import("./sweep/sweep-dialog")).SweepDialog });
const loadApp = async () => ({ default: (await import("./apps/app-dialog")).AppDialog });
const AppDialog = lazy(loadApp);
const VersionsDialog = lazy(loadVersions);
const UseAsApi = lazy(loadApi);
const SubgraphDialog = lazy(loadSubgraph);
const SweepDialog = lazy(loadSweep);

const OVERLAYS: Readonly<Partial<Record<string, (props: OverlayProps) => ReactNode>>> = {
  commands: CommandList,
  find: NodeList,
  connect: ConnectList,
  help: Help,
  api: UseAsApi,
  app: AppDialog,
  versions: VersionsDialog,
  subgraph: SubgraphDialog,
  sweep: SweepDialog,
};

export const Overlays = ({ stage }: { stage: Stage }) => {
  const { ui } = useEditor();
  const overlay = useUi((state) => state.overlay);
  const Open = overlay === undefined ? undefined : OVERLAYS[overlay];
  useEffect(() => {
    for (const load of [loadLists, loadVersions, loadApi, loadApp, loadSubgraph, loadSweep]) load().catch(() => undefined);
  }, []);
  if (!Open) return null;
  return (
    <Suspense fallback={null}>
      <Open stage={stage} onClose={() => ui.setState({ overlay: undefined })} />
    </Suspense>
  );
};
