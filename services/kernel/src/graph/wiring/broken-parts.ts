import type { GraphIssue, IssueCode } from "../../issues";
import type { Graph } from "../types";
import { checkStructure } from "./validate";

/** Codes that don't depend on models, inner workflows or inputs. */
const CERTAIN: ReadonlySet<IssueCode> = new Set(["UNKNOWN_KIND", "UNKNOWN_SOURCE", "UNKNOWN_TARGET", "CYCLE"]);

/** Problems of a graph that make every run invalid, whatever models and workflows there are. */
export const brokenParts = (graph: Graph): GraphIssue[] =>
  checkStructure(graph, () => undefined).issues.filter(({ code }) => CERTAIN.has(code));
