import { useRef } from "react";
import { kindOf } from "../../canvas/kinds";
import { edgesOf, nodesOf } from "../../document/graph";
import { useDocument, useEditor } from "../context";
import { titleIn } from "../titles";
import { COMMON } from "../../messages/common";
import { OUTLINE } from "../../messages/editor/page";

/** The canvas as a list, for screen readers and for editing on narrow screens. */
export const Outline = () => {
  const editor = useEditor();
  const { document } = editor;
  const list = useRef<HTMLElement>(null);
  const graph = useDocument((state) => state.graph);
  const selection = useDocument((state) => state.selection);
  const [chosenId] = [...selection.nodes];
  return (
    <nav
      ref={list}
      aria-label={COMMON.nodes}
      onKeyDown={(event) => {
        const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        const buttons = [...(list.current?.querySelectorAll("button") ?? [])];
        if (by === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        event.stopPropagation();
        const at = buttons.findIndex((button) => button === window.document.activeElement);
        const next = buttons[(at + by + buttons.length) % buttons.length];
        next?.focus();
        next?.click();
      }}
      className="sr-only max-md:not-sr-only max-md:relative! max-md:flex max-md:shrink-0 max-md:gap-1.5 max-md:overflow-x-auto max-md:border-b max-md:bg-surface max-md:p-2"
    >
      {nodesOf(graph).map((node, index) => (
        <button
          key={node.id}
          type="button"
          // The list is one tab stop. Arrow keys move inside it.
          tabIndex={chosenId === undefined ? (index === 0 ? 0 : -1) : node.id === chosenId ? 0 : -1}
          aria-pressed={selection.nodes.has(node.id)}
          className="shrink-0 rounded-lg border px-2.5 py-1 text-xs whitespace-nowrap aria-pressed:border-accent aria-pressed:bg-accent-soft"
          onClick={() => document.select([node.id])}
        >
          {titleIn(editor, node)}
          <span className="sr-only">
            {OUTLINE.outgoingLinks(kindOf(node.type).title, edgesOf(graph).filter(({ source }) => source === node.id).length)}
          </span>
        </button>
      ))}
    </nav>
  );
};
