/** Parts of the editor that its first paint doesn't need, loaded together. */
export { Lasso } from "./lasso";
export { LostNodes } from "./lost-nodes";
export { FrameView } from "./node/frame-view";
export { NodeCorner } from "./node/node-corner";
export { NodeSettingField } from "./node/node-setting-field";
export { NoteView } from "./node/note-view";
export { NodeMenu } from "./node-menu";
export { Conflicts } from "../dialogs/conflicts";
export { SettingsDialog } from "../dialogs/settings-dialog";
export { Library } from "../panels/library";
export { ProblemsPanel } from "../panels/problems";
export { Minimap } from "./mini-map";
export { NodeMask } from "./node/node-mask";
export { NodeAwaited } from "./node/node-awaited";
export { NodeSizes } from "./node/node-sizes";
export { OperationIcon } from "./node/operation-icon";
export { NodeElapsed } from "./node/node-elapsed";
