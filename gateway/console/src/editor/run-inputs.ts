import { inputFields, savedValues, upToNode, type InputField } from "@nodeloom/kernel/graph";
import { useMemo } from "react";
import { kernelGraph, type DocGraph } from "../document/graph";
import { initialValues, sentInputs } from "../runs/run-form";
import { useDocument, useUi } from "./context";

/** The inputs that a run asks for; of one to a node, those that this part asks for. */
export const fieldsUpTo = (graph: DocGraph, until: string | undefined): InputField[] => {
  const whole = { ...kernelGraph(graph), issues: [] };
  return inputFields((until === undefined ? undefined : upToNode(whole, until)) ?? whole);
};

/** The inputs of the next run: what was typed, else what is saved, else the defaults. */
export const useRunInputs = (until: string | undefined) => {
  const graph = useDocument((state) => state.graph);
  const typed = useUi((state) => state.typed);
  const fields = useMemo(() => fieldsUpTo(graph, until), [graph, until]);
  const saved = useMemo(() => savedValues(kernelGraph(graph)), [graph]);
  const values = { ...initialValues(fields, saved), ...typed };
  return { fields, values, inputs: sentInputs(fields, values) };
};
