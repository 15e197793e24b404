import { lazy } from "react";

/** Panels of the canvas. Their code is loaded after it, so that they also open without a network. */
const loadInspector = async () => ({ default: (await import("../inspector/inspector")).Inspector });
const loadRun = async () => ({ default: (await import("./run-panel")).RunPanel });
const loadPalette = async () => ({ default: (await import("./palette")).Palette });
const loadExtras = () => import("../board/extras");

export const Inspector = lazy(loadInspector);
export const RunButton = lazy(async () => ({ default: (await import("../running/run-button")).RunButton }));
export const RunPanel = lazy(loadRun);
export const ProblemsPanel = lazy(async () => ({ default: (await loadExtras()).ProblemsPanel }));
export const AssistantPanel = lazy(async () => ({ default: (await import("../dialogs/dialogs")).AssistantPanel }));
export const Palette = lazy(loadPalette);
export const Library = lazy(async () => ({ default: (await loadExtras()).Library }));
export const SettingsDialog = lazy(async () => ({ default: (await loadExtras()).SettingsDialog }));
export const NodeMenu = lazy(async () => ({ default: (await loadExtras()).NodeMenu }));
export const Lasso = lazy(async () => ({ default: (await loadExtras()).Lasso }));
export const LostNodes = lazy(async () => ({ default: (await loadExtras()).LostNodes }));
export const NodeSettingField = lazy(async () => ({ default: (await loadExtras()).NodeSettingField }));
export const FrameView = lazy(async () => ({ default: (await loadExtras()).FrameView }));
export const NoteView = lazy(async () => ({ default: (await loadExtras()).NoteView }));
export const NodeCorner = lazy(async () => ({ default: (await loadExtras()).NodeCorner }));
export const Minimap = lazy(async () => ({ default: (await loadExtras()).Minimap }));
export const NodeMask = lazy(async () => ({ default: (await loadExtras()).NodeMask }));
export const NodeElapsed = lazy(async () => ({ default: (await loadExtras()).NodeElapsed }));
export const NodeAwaited = lazy(async () => ({ default: (await loadExtras()).NodeAwaited }));
export const NodeSizes = lazy(async () => ({ default: (await loadExtras()).NodeSizes }));
export const Conflicts = lazy(async () => ({ default: (await loadExtras()).Conflicts }));

export const loadPanels = (): void => {
  for (const load of [loadExtras, loadInspector, loadRun, loadPalette]) load().catch(() => undefined);
};
