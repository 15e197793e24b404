/** Dialogs of the canvas and the assistant, loaded together after it. */
export { AppDialog } from "../apps/app-dialog";
export { AssistantPanel } from "../assistant/assistant-panel";
export { ModelsDialog } from "../models/models-dialog";
export { SubgraphDialog } from "../subgraph/subgraph-dialog";
export { SweepDialog } from "../sweep/sweep-dialog";
export { SwapDialog } from "../swap/swap-dialog";
export { TestsDialog } from "../tests/tests-dialog";
export { TouchDialog } from "../touch/touch-dialog";
export { VersionsDialog } from "../versions/versions-dialog";
export { CommandList, ConnectList, Help, NodeList } from "./lists";
export { UseAsApi } from "./use-as-api";
