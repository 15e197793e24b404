import { createBudget, evaluateStep, isRecord } from "@nodeloom/kernel/graph";
import { useMemo } from "react";
import { edgesOf, type DocNode } from "../../document/graph";
import { AnswerTable, isReadable } from "../../runs/answers/answer-table";
import { expressionOf, type Path } from "../../runs/answers/schema-form";
import { useLive } from "../../runs/live";
import { useLatestOutputs } from "../../runs/latest-outputs";
import { outputsOf } from "../../runs/outputs";
import { AreaField } from "../../ui/inputs/field";
import { useDocument, useEditor } from "../context";
import { useSetting } from "./use-setting";
import { EXPRESSION_FORM } from "../../messages/editor/inspector";

const MOST_SHOWN = 30;
const MOST_DEPTH = 6;

/** Input of a node in the shown run, or else in the newest; undefined if unknown. */
const useGiven = (node: DocNode): { value: unknown } | undefined => {
  const { slug } = useEditor();
  const edge = useDocument(({ graph }) => edgesOf(graph).find(({ target }) => target === node.id));
  const live = useLive(({ runs }) => (edge ? runs[slug]?.nodes.get(edge.source) : undefined));
  const madeNode = useLatestOutputs((state) => (edge ? state[slug]?.get(edge.source)?.node : undefined));
  return useMemo(() => {
    if (!edge) return node.data.value === undefined ? undefined : { value: node.data.value };
    const outputs = (live && outputsOf(live)) ?? (madeNode && outputsOf(madeNode));
    const port = edge.sourceHandle ?? Object.keys(outputs ?? {})[0];
    return outputs && port !== undefined && Object.hasOwn(outputs, port) ? { value: outputs[port] } : undefined;
  }, [edge, live, madeNode, node.data.value]);
};

const evaluated = (expression: string, value: unknown): { value: unknown } | { problem: string } => {
  try {
    return { value: evaluateStep({ type: "json", literals: { expression } }, { value }, createBudget()) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
};

interface TreeProps {
  value: unknown;
  path: Path;
  disabled: boolean;
  onChoose: (path: Path) => void;
}

const Leaf = ({ value, path, disabled, onChoose, name }: TreeProps & { name: string | undefined }) => (
  <button
    type="button"
    disabled={disabled}
    className="block w-full truncate rounded px-1.5 py-0.5 text-left text-xs hover:bg-hover"
    title={EXPRESSION_FORM.pick(expressionOf(path))}
    onClick={() => onChoose(path)}
  >
    {name !== undefined && <span className="text-muted">{name}: </span>}
    {typeof value === "object" && value !== null ? (
      <span className="text-faint">{Array.isArray(value) ? EXPRESSION_FORM.items(value.length) : EXPRESSION_FORM.fields}</span>
    ) : (
      <span>{typeof value === "string" ? value : JSON.stringify(value)}</span>
    )}
  </button>
);

/** A value as a tree of selectable parts. One element represents a whole list. */
const Tree = ({ value, path, disabled, onChoose, name }: TreeProps & { name?: string }) => {
  const inner: readonly (readonly [string | number, unknown])[] =
    path.length >= MOST_DEPTH
      ? []
      : Array.isArray(value)
        ? value.slice(0, 1).map((one) => [0, one] as const)
        : isRecord(value)
          ? Object.entries(value).slice(0, MOST_SHOWN)
          : [];
  return (
    <div>
      <Leaf value={value} path={path} disabled={disabled} onChoose={onChoose} name={name} />
      {inner.length > 0 && (
        <div className="ml-3 border-l pl-1">
          {inner.map(([step, one]) => (
            <Tree
              key={step}
              value={one}
              path={[...path, step]}
              disabled={disabled}
              onChoose={onChoose}
              name={typeof step === "number" ? "each" : step}
            />
          ))}
        </div>
      )}
    </div>
  );
};

/** Form of an expression with its input and output. */
export const ExpressionForm = ({ node }: { node: DocNode }) => {
  const { set, disabled } = useSetting(node);
  const example = useGiven(node);
  const expression = typeof node.data.expression === "string" ? node.data.expression : "";
  const evaluation = useMemo(() => example && evaluated(expression, example.value), [example, expression]);
  return (
    <div className="flex flex-col gap-4">
      <AreaField
        label={EXPRESSION_FORM.expression}
        hint={EXPRESSION_FORM.expressionHint}
        rows={2}
        disabled={disabled}
        spellCheck={false}
        className="font-mono text-xs!"
        value={expression}
        onText={(text) => set(["expression"], text)}
      />
      {example ? (
        <>
          <section aria-label={EXPRESSION_FORM.input}>
            <h3 className="mb-1 text-xs font-medium text-muted">{EXPRESSION_FORM.input}</h3>
            <div
              className="max-h-64 overflow-auto rounded-xl border p-1.5"
              tabIndex={0}
              role="region"
              aria-label={EXPRESSION_FORM.valuesToSelect}
            >
              <Tree
                value={example.value}
                path={[]}
                disabled={disabled}
                onChoose={(path) => set(["expression"], expressionOf(path), EXPRESSION_FORM.selectAValue)}
              />
            </div>
          </section>
          <section aria-label={EXPRESSION_FORM.output} aria-live="polite">
            <h3 className="mb-1 text-xs font-medium text-muted">{EXPRESSION_FORM.output}</h3>
            {evaluation && "problem" in evaluation ? (
              <p className="text-sm text-bad wrap-anywhere">{evaluation.problem}</p>
            ) : isReadable(evaluation?.value) ? (
              <AnswerTable value={evaluation!.value} label={EXPRESSION_FORM.output} />
            ) : (
              <p className="rounded-xl border p-3 text-[13px] wrap-anywhere">
                {evaluation?.value === null ? EXPRESSION_FORM.noMatch : String(evaluation?.value)}
              </p>
            )}
          </section>
        </>
      ) : (
        <p className="text-xs text-faint">{EXPRESSION_FORM.sampleHint}</p>
      )}
    </div>
  );
};
