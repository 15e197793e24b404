import { lazy, Suspense, useEffect, type ReactNode } from "react";
import type { Stage } from "./commands/command";
import { useEditor, useUi } from "./context";
import type { OverlayProps } from "./dialogs/lists";

/** Loaded after the canvas, so that they also open without a network. */
const load = () => import("./dialogs/dialogs");
const CommandList = lazy(async () => ({ default: (await load()).CommandList }));
const NodeList = lazy(async () => ({ default: (await load()).NodeList }));
const ConnectList = lazy(async () => ({ default: (await load()).ConnectList }));
const Help = lazy(async () => ({ default: (await load()).Help }));
const AppDialog = lazy(async () => ({ default: (await load()).AppDialog }));
const VersionsDialog = lazy(async () => ({ default: (await load()).VersionsDialog }));
const UseAsApi = lazy(async () => ({ default: (await load()).UseAsApi }));
const SubgraphDialog = lazy(async () => ({ default: (await load()).SubgraphDialog }));
const SweepDialog = lazy(async () => ({ default: (await load()).SweepDialog }));
const SwapDialog = lazy(async () => ({ default: (await load()).SwapDialog }));
const TestsDialog = lazy(async () => ({ default: (await load()).TestsDialog }));
const ModelsDialog = lazy(async () => ({ default: (await load()).ModelsDialog }));

const TouchDialog = lazy(async () => ({ default: (await load()).TouchDialog }));

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
  swap: SwapDialog,
  models: ModelsDialog,
  tests: TestsDialog,
  touch: TouchDialog,
};

export const Overlays = ({ stage }: { stage: Stage }) => {
  const { ui } = useEditor();
  const overlay = useUi((state) => state.overlay);
  const Open = overlay === undefined ? undefined : OVERLAYS[overlay];
  useEffect(() => {
    load().catch(() => undefined);
  }, []);
  if (!Open) return null;
  return (
    <Suspense fallback={null}>
      <Open stage={stage} onClose={() => ui.setState({ overlay: undefined })} />
    </Suspense>
  );
};
