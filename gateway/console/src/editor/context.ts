import type { Me, Model } from "@nodeloom/client";
import type { ModelTerms } from "@nodeloom/kernel/graph";
import { createContext, useContext } from "react";
import { useStore, type StoreApi } from "zustand";
import type { PortRules } from "../canvas/ports";
import type { OpenDocument } from "../document/document";
import type { DocumentState } from "../document/state";
import type { Scene, SceneState } from "./scene/scene";
import type { EditorUi } from "./ui-store";

/** Shared context of the editor's parts. */
export interface Editor {
  slug: string;
  me: Me;
  /** False for templates of other users, which can only be viewed and copied. */
  canEdit: boolean;
  /** Reason with which an administrator took the template down. */
  takenDown: string | undefined;
  document: OpenDocument;
  ui: StoreApi<EditorUi>;
  scene: Scene;
  models: readonly Model[];
  terms: ReadonlyMap<string, ModelTerms>;
  schemaOf: PortRules["schemaOf"];
  resultsOf: PortRules["resultsOf"];
  markupPermille: number | undefined;
}

const EditorContext = createContext<Editor | undefined>(undefined);
export const EditorProvider = EditorContext.Provider;

export const useEditor = (): Editor => {
  const editor = useContext(EditorContext);
  if (!editor) throw new Error("this part stands in the editor alone");
  return editor;
};

export const useDocument = <T>(select: (state: DocumentState) => T): T => useStore(useEditor().document.store, select);
export const useScene = <T>(select: (state: SceneState) => T): T => useStore(useEditor().scene.store, select);
/** True if the prepared run skips the node. */
export const useLeftOut = (nodeId: string): boolean => {
  const prepares = useUi(({ panel, panelOpen }) => panelOpen && panel === "run");
  return useScene(({ part }) => prepares && part !== undefined && !part.has(nodeId));
};
/** Problem or warning of a node, if its author has edited the node. */
export const useMark = (nodeId: string): "problem" | "warning" | undefined => {
  const isFresh = useUi(({ fresh }) => fresh.has(nodeId));
  const mark = useScene(({ judgement }) => {
    if (judgement.issues.some((issue) => issue.nodeId === nodeId)) return "problem";
    return judgement.warnings[nodeId] === undefined ? undefined : "warning";
  });
  return isFresh ? undefined : mark;
};
export const useUi = <T>(select: (state: EditorUi) => T): T => useStore(useEditor().ui, select);
