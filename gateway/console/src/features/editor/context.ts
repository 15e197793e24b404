import type { Me, Model } from "@nodeloom/client";
import type { GraphNode, JsonSchema, ModelTerms } from "@nodeloom/kernel/graph";
import { createContext, useContext } from "react";
import { useStore, type StoreApi } from "zustand";
import type { DocumentState, OpenDocument } from "../../document/document";
import type { EditorUi } from "./ui-store";

/** What every part of the editor works with. */
export interface Editor {
  slug: string;
  me: Me;
  /** False for templates of others: look and copy. */
  canEdit: boolean;
  /** Why an administrator took the template down. */
  takenDown: string | undefined;
  document: OpenDocument;
  ui: StoreApi<EditorUi>;
  models: readonly Model[];
  terms: ReadonlyMap<string, ModelTerms>;
  schemaOf: (node: GraphNode) => JsonSchema | undefined;
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
export const useUi = <T>(select: (state: EditorUi) => T): T => useStore(useEditor().ui, select);
