import { isRecord } from "@nodeloom/kernel/graph";
import { kindOf } from "../../canvas/kinds";
import { setData } from "../../document/edit";
import { nodesOf } from "../../document/graph";
import { graphOf } from "../chosen";
import type { Editor } from "../context";
import { NEW_SEED } from "../../messages/editor/running";

const SEEDS = 2_147_483_647;

/** Sets a new seed on every node whose model takes one. @returns the number of these nodes */
export const setNewSeeds = (editor: Editor): number => {
  const taking = new Map(
    editor.models.flatMap(({ internalName, inputSchema: { properties } }) => {
      const seed = isRecord(properties) ? properties.seed : undefined;
      const most = isRecord(seed) && typeof seed.maximum === "number" ? Math.min(seed.maximum, SEEDS) : SEEDS;
      return isRecord(seed) ? [[internalName, most] as const] : [];
    }),
  );
  const nodes = nodesOf(graphOf(editor)).filter(({ type, data }) => kindOf(type).modality !== undefined && taking.has(String(data.model)));
  if (nodes.length === 0) return 0;
  editor.document.change(NEW_SEED.newSeed, (graph) =>
    nodes.reduce(
      (next, { id, data }) => setData(next, id, ["inputs", "seed"], 1 + Math.floor(Math.random() * taking.get(String(data.model))!)),
      graph,
    ),
  );
  return nodes.length;
};
