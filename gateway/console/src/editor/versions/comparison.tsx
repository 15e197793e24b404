import { ArrowRight, GitCompareArrows, Minus, Move, Plus, type LucideIcon } from "lucide-react";
import { useMemo } from "react";
import {
  compareGraphs,
  type ChangeKind,
  type Comparison,
  type LinkChange,
  type NodeChange,
  type SettingChange,
} from "../../document/compare";
import { nodeById, type DocGraph } from "../../document/graph";
import { classes } from "../../ui/classes";
import { nodeTitle } from "../titles";
import { GraphPicture } from "./graph-picture";
import { COMPARISON } from "../../messages/editor/versions";

const MOST = 240;
const shownJson = (json: string | undefined): string => {
  if (json === undefined) return "nothing";
  const value: unknown = JSON.parse(json);
  const text = typeof value === "string" ? `“${value}”` : JSON.stringify(value);
  return text.length > MOST ? `${text.slice(0, MOST)}…` : text;
};

const KINDS: Readonly<Record<ChangeKind, readonly [string, string, LucideIcon]>> = {
  added: ["added", "text-ok", Plus],
  removed: ["removed", "text-bad", Minus],
  changed: ["changed", "text-warn", GitCompareArrows],
  moved: ["moved", "text-accent-text", Move],
};

const Kind = ({ kind }: { kind: ChangeKind }) => {
  const [word, colour, Icon] = KINDS[kind];
  return (
    <span className={classes("inline-flex w-24 shrink-0 items-center gap-1.5 text-xs font-medium", colour)}>
      <Icon className="size-3.5" aria-hidden /> {word}
    </span>
  );
};

const Setting = ({ path, before, after }: SettingChange) => (
  <li className="wrap-anywhere">
    <span className="text-muted">{(path.length > 1 ? path.slice(1) : path).join(" › ")}:</span>{" "}
    <del className="text-bad">{shownJson(before)}</del>{" "}
    <ArrowRight className="inline size-3 text-faint" aria-label={COMPARISON.changedTo} />{" "}
    <ins className="text-ok no-underline">{shownJson(after)}</ins>
  </li>
);

const NodeRow = ({ kind, node, settings }: NodeChange) => (
  <li className="flex gap-2 py-1.5 text-sm">
    <Kind kind={kind} />
    <span className="min-w-0 flex-1">
      <span className="font-medium wrap-anywhere">{nodeTitle(node)}</span>{" "}
      <span className="text-xs text-faint wrap-anywhere">{node.id}</span>
      {settings.length > 0 && (
        <ul className="mt-0.5 flex flex-col gap-0.5 text-[13px]">
          {settings.map((setting) => (
            <Setting key={setting.path.join("/")} {...setting} />
          ))}
        </ul>
      )}
    </span>
  </li>
);

const LinkRow = ({ change: { kind, edge }, graphs }: { change: LinkChange; graphs: readonly DocGraph[] }) => {
  const title = (id: string): string => {
    const node = graphs.map((graph) => nodeById(graph, id)).find(Boolean);
    return node ? nodeTitle(node) : id;
  };
  return (
    <li className="flex gap-2 py-1.5 text-sm">
      <Kind kind={kind} />
      <span className="min-w-0 flex-1 wrap-anywhere">
        {COMPARISON.link(title(edge.source))} <ArrowRight className="inline size-3 text-faint" aria-label={COMPARISON.to} />{" "}
        {title(edge.target)}
        {edge.targetHandle !== null && <span className="text-muted">: {edge.targetHandle}</span>}
      </span>
    </li>
  );
};

const kindsOf = (nodes: readonly NodeChange[]): ReadonlyMap<string, ChangeKind> => new Map(nodes.map(({ node, kind }) => [node.id, kind]));

/** Changes of nodes and links as text. @param graphs graphs with the ends of the links, the later one first */
export const ChangeList = ({ comparison, graphs, label }: { comparison: Comparison; graphs: readonly DocGraph[]; label: string }) => (
  <ul className="divide-y" aria-label={label}>
    {comparison.nodes.map((change) => (
      <NodeRow key={`${change.kind} ${change.node.id}`} {...change} />
    ))}
    {comparison.links.map((change) => (
      <LinkRow key={`${change.kind} ${change.edge.id}`} change={change} graphs={graphs} />
    ))}
  </ul>
);

/** Two graphs side by side, with the changes between them as text. */
export const GraphComparison = ({
  before,
  after,
}: {
  before: { title: string; graph: DocGraph };
  after: { title: string; graph: DocGraph };
}) => {
  const comparison = useMemo(() => compareGraphs(before.graph, after.graph), [before.graph, after.graph]);
  const { nodes, links } = comparison;
  const changes = kindsOf(nodes);
  return (
    <div className="flex flex-col gap-3">
      <div className="grid gap-3 sm:grid-cols-2">
        <GraphPicture {...before} changes={changes} />
        <GraphPicture {...after} changes={changes} />
      </div>
      {nodes.length + links.length === 0 ? (
        <p className="text-sm text-muted">{COMPARISON.noDifferences}</p>
      ) : (
        <ChangeList comparison={comparison} graphs={[after.graph, before.graph]} label={COMPARISON.fromTo(before.title, after.title)} />
      )}
    </div>
  );
};
