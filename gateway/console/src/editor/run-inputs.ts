import { inputFields, savedValues, upToNode, type InputField } from "@nodeloom/kernel/graph";
import { useMemo } from "react";
import { kernelGraph, type DocGraph } from "../document/graph";
import { initialValues, sentInputs } from "../runs/sent-inputs";
import { useDocument, useUi } from "./context";

/** Inputs of a run, or of its part up to a node. */
export const fieldsUpTo = (graph: DocGraph, until: string | undefined): InputField[] => {
  const whole = { ...kernelGraph(graph), issues: [] };
  return inputFields((until === undefined ? undefined : upToNode(whole, until)) ?? whole);
};

/** Inputs of the next run: typed, else saved, else default values. */
export const useRunInputs = (until: string | undefined) => {
  const graph = useDocument((state) => state.graph);
  const typed = useUi((state) => state.typed);
  const fields = useMemo(() => fieldsUpTo(graph, until), [graph, until]);
  const saved = useMemo(() => savedValues(kernelGraph(graph)), [graph]);
  const values = { ...initialValues(fields, saved), ...typed };
  return { fields, values, inputs: sentInputs(fields, values) };
};
