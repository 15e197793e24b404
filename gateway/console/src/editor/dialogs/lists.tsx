import { useMemo } from "react";
import { usePlaces } from "../../features/workflows/places";
import { allFittingInputs, type Port } from "../../canvas/ports";
import { isRemark, kindOf } from "../../canvas/kinds";
import { Picker, type Pick } from "../../parts/picker";
import { removeItems } from "../../document/edit";
import { edgesOf, leadsTo, nodesOf } from "../../document/graph";
import { Dialog } from "../../ui/overlays/dialog";
import { Keys } from "../../ui/keys";
import { link } from "../commands/actions";
import { COMMANDS } from "../commands/commands";
import type { Stage } from "../commands/command";
import { useDocument, useEditor, type Editor } from "../context";
import { titleIn } from "../titles";
import { COMMAND_GROUPS } from "../../messages/editor/commands";
import { LISTS } from "../../messages/editor/dialogs";

/** Searchable lists: commands, nodes, links and shortcuts. */

export interface OverlayProps {
  stage: Stage;
  onClose: () => void;
}

export const CommandList = ({ stage, onClose }: OverlayProps) => {
  const editor = useEditor();
  const places = usePlaces();
  const sought = (pick: Pick): Pick => ({ ...pick, isSought: true });
  const nodes = useNodePicks(stage).map(sought);
  const commands = COMMANDS.filter(({ edits, id }) => (editor.canEdit || !edits) && id !== "commands").map((command): Pick => ({
    key: command.id,
    title: command.title,
    aside: command.keys[0] === undefined ? undefined : <Keys keys={command.keys[0]} />,
    run: () => command.run(editor, stage),
  }));
  return (
    <Picker
      title={LISTS.commands}
      placeholder={LISTS.searchCommandsAndNodes}
      picks={[...nodes, ...commands, ...places.picks.map(sought)]}
      empty={LISTS.noMatches}
      onQuery={places.onQuery}
      onClose={onClose}
    />
  );
};

const NOTE_CHARACTERS = 80;

/** Nodes with their search terms: name, kind, model, texts and settings. */
const useNodePicks = (stage: Stage): Pick[] => {
  const editor = useEditor();
  const { document, models } = editor;
  const graph = useDocument((state) => state.graph);
  return nodesOf(graph).map((node): Pick => {
    const kind = kindOf(node.type);
    const model = models.find(({ internalName }) => internalName === node.data.model)?.displayName;
    const text = kind.summary(node.data).replaceAll("\n", " · ").slice(0, NOTE_CHARACTERS);
    return {
      key: node.id,
      title: titleIn(editor, node),
      note: [kind.title, node.id, text].filter((one) => one !== "").join(" · "),
      words: `${model ?? ""} ${JSON.stringify(node.data)}`,
      run: () => {
        document.select([node.id]);
        stage.fit([node.id]);
      },
    };
  });
};

export const NodeList = ({ stage, onClose }: OverlayProps) => (
  <Picker
    title={LISTS.findANode}
    placeholder={LISTS.findPlaceholder}
    picks={useNodePicks(stage)}
    empty={LISTS.noMatchingNodes}
    onClose={onClose}
  />
);

/** Links that the selected node's outputs can have, and links to remove, for keyboard users. */
const connections = (editor: Editor): Pick[] => {
  const { graph, selection } = editor.document.store.getState();
  const { ports } = editor.scene.store.getState();
  const [from] = [...selection.nodes];
  const own = from === undefined ? undefined : ports.get(from);
  if (from === undefined || !own) return [];
  const linkTo = (output: Port, target: string, input: Port) => (): void => {
    const ends = { source: from, sourceHandle: output.name, target, targetHandle: input.name };
    link(editor, ends, input);
  };
  const linked = edgesOf(graph)
    .filter(({ source, target }) => source === from || target === from)
    .map((edge): Pick => {
      const nameOf = (id: string): string =>
        nodesOf(graph)
          .filter((node) => node.id === id)
          .map((node) => titleIn(editor, node))[0] ?? id;
      return {
        key: `remove ${edge.id}`,
        title: LISTS.remove(nameOf(edge.source), nameOf(edge.target), edge.targetHandle ?? ""),
        run: () => editor.document.change(LISTS.removeLink, (now) => removeItems(now, [], [edge.id])),
      };
    });
  const free = own.outputs.flatMap((output) =>
    nodesOf(graph)
      .filter(({ id, type }) => id !== from && !isRemark(type) && !leadsTo(graph, id, from))
      .flatMap((node) => {
        const used = new Set(
          edgesOf(graph).flatMap(({ target, targetHandle }) => (target === node.id && targetHandle !== null ? [targetHandle] : [])),
        );
        return allFittingInputs(output, ports.get(node.id)!, used).map((input): Pick => ({
          key: `${output.name} ${node.id} ${input.name}`,
          title: `${output.name} → ${titleIn(editor, node)}: ${input.name}`,
          note: `${node.id}${used.has(input.name) && !input.list ? LISTS.replacesItsLink : ""}`,
          run: linkTo(output, node.id, input),
        }));
      }),
  );
  return [...free, ...linked];
};

export const ConnectList = ({ onClose }: OverlayProps) => {
  const editor = useEditor();
  const picks = useMemo(() => connections(editor), [editor]);
  return <Picker title={LISTS.connectTo} placeholder={LISTS.linkPlaceholder} picks={picks} empty={LISTS.nothingToLink} onClose={onClose} />;
};

const GROUPS = ["edit", "select", "arrange", "view", "run"] as const;

export const Help = ({ onClose }: OverlayProps) => (
  <Dialog title={LISTS.keyboardShortcuts} width="lg" onClose={onClose}>
    <div className="grid gap-x-10 gap-y-5 sm:grid-cols-2">
      {GROUPS.map((group) => (
        <section key={group}>
          <h3 className="mb-1.5 text-xs font-semibold text-faint">{COMMAND_GROUPS[group]}</h3>
          <ul className="flex flex-col gap-1 text-sm">
            {COMMANDS.filter((command) => command.group === group && command.keys.length > 0).map((command) => (
              <li key={command.id} className="flex justify-between gap-4">
                <span>{command.title}</span>
                <Keys keys={command.keys[0]!} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  </Dialog>
);
