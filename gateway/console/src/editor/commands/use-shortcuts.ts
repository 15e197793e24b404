import { useEffect } from "react";
import { commandFor } from "./commands";
import type { Stage } from "./command";
import type { Editor } from "../context";

const TYPES: ReadonlySet<string> = new Set(["INPUT", "TEXTAREA", "SELECT"]);
/** Keys that a focused control handles. */
const OF_CONTROLS: ReadonlySet<string> = new Set(["Enter", " ", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]);

/** Shortcuts that also work inside fields. */
const reachesFields = (id: string): boolean => id.startsWith("run") || id === "save";

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (TYPES.has(target.tagName) || target.isContentEditable);
const isControl = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest("button, a, summary, [role=tab], [role=menuitem]") !== null;

const isInPanel = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement && !document.querySelector("dialog[open]") && target.closest("aside") !== null;

/** Shortcuts of the canvas. In fields only Run and Save work. */
export const useShortcuts = (editor: Editor, stage: Stage): void => {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      // Escape in a field of the panel removes the focus from it.
      if (event.key === "Escape" && isTyping(event.target) && isInPanel(event.target)) return event.target.blur();
      const command = event.isComposing ? undefined : commandFor(event);
      if (!command || document.querySelector("dialog[open]")) return;
      if (isTyping(event.target) && !reachesFields(command.id)) return;
      if (isControl(event.target) && OF_CONTROLS.has(event.key) && !event.ctrlKey && !event.metaKey) return;
      if (command.edits && (!editor.canEdit || editor.ui.getState().locked)) return;
      // With text selected on the page, Copy copies the text.
      if (command.id === "copy" && (window.getSelection()?.toString() ?? "") !== "") return;
      // The browser passes pasted data, including pictures, without a permission prompt.
      if (command.id === "paste") return;
      event.preventDefault();
      command.run(editor, stage);
    };
    const onPaste = (event: ClipboardEvent): void => {
      if (!event.clipboardData || isTyping(event.target) || document.querySelector("dialog[open]")) return;
      if (!editor.canEdit || editor.ui.getState().locked) return;
      event.preventDefault();
      stage.pasteFrom(event.clipboardData);
    };
    window.addEventListener("keydown", onKey);
    window.addEventListener("paste", onPaste);
    return () => {
      window.removeEventListener("keydown", onKey);
      window.removeEventListener("paste", onPaste);
    };
  }, [editor, stage]);
};
