import { lazy } from "react";

/** Panels of the canvas. Their code is loaded after it, so that they also open without a network. */
const loadInspector = async () => ({ default: (await import("../inspector/inspector")).Inspector });
const loadRun = async () => ({ default: (await import("./run-panel")).RunPanel });
const loadProblems = async () => ({ default: (await import("./problems")).ProblemsPanel });
const loadPalette = async () => ({ default: (await import("./palette")).Palette });
const loadLibrary = async () => ({ default: (await import("./library")).Library });
const loadSettings = async () => ({ default: (await import("../dialogs/settings-dialog")).SettingsDialog });
const loadNodeMenu = async () => ({ default: (await import("../board/node-menu")).NodeMenu });
const loadLasso = async () => ({ default: (await import("../board/lasso")).Lasso });
const loadLostNodes = async () => ({ default: (await import("../board/lost-nodes")).LostNodes });
const loadConflicts = async () => ({ default: (await import("../dialogs/conflicts")).Conflicts });

export const Inspector = lazy(loadInspector);
export const RunButton = lazy(async () => ({ default: (await import("../running/run-button")).RunButton }));
export const RunPanel = lazy(loadRun);
export const ProblemsPanel = lazy(loadProblems);
export const Palette = lazy(loadPalette);
export const Library = lazy(loadLibrary);
export const SettingsDialog = lazy(loadSettings);
export const NodeMenu = lazy(loadNodeMenu);
export const Lasso = lazy(loadLasso);
export const LostNodes = lazy(loadLostNodes);
export const Conflicts = lazy(loadConflicts);

export const loadPanels = (): void => {
  const panels = [loadInspector, loadRun, loadProblems, loadPalette, loadLibrary, loadSettings, loadNodeMenu, loadConflicts];
  for (const load of [...panels, loadLasso, loadLostNodes]) load().catch(() => undefined);
};
