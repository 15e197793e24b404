import { callsTransform, isRecord, type GraphNode } from "@nodeloom/kernel/graph";
import { kindOf } from "./kinds";

/**
 * Path of a setting. An operation's setting is beside its name; a model's is where it already exists, else among the kind's settings or the
 * inputs.
 */
export const settingPath = ({ type, data }: GraphNode, name: string): string[] => {
  if (callsTransform(type)) return [name];
  const inputs = isRecord(data.inputs) ? data.inputs : {};
  if (Object.hasOwn(inputs, name)) return ["inputs", name];
  const ofKind = kindOf(type).rules?.settings ?? {};
  return Object.hasOwn(data, name) || Object.hasOwn(ofKind, name) ? [name] : ["inputs", name];
};

export const settingAt = ({ data }: GraphNode, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined), data);
