import type { GraphNode } from "@nodeloom/kernel/graph";
import { kindOf } from "./kinds";

const MOST = 160;

/** What a node does, in two lines of its own settings. */
export const summaryOf = ({ type, data }: GraphNode): string => kindOf(type).summary(data).slice(0, MOST);
