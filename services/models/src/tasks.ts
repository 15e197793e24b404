import { isTaskName, schemaPorts, TASK_NAMES, type TaskName } from "@nodeloom/kernel";
import type { Entry } from "./entry";

/** Tasks of models, and the order in which models are chosen for a task. */

type ModelDescription = Pick<Entry, "modality" | "inputSchema">;

/** Returns the tasks of an entry without explicit tasks, derived from its modality and inputs. */
const derived = ({ modality, inputSchema }: ModelDescription): TaskName[] => {
  const ports = new Map(schemaPorts(inputSchema));
  const required = new Set(Array.isArray(inputSchema.required) ? (inputSchema.required as unknown[]) : []);
  const isFile = (type: string | undefined, name: string): boolean => type === name || (type === "media" && ports.has(name));
  const takes = (family: "image" | "audio"): string | undefined =>
    [...ports].find(([name, { type }]) => isFile(type, family) && (type !== "media" || name.startsWith(family)))?.[0];
  const image = takes("image");
  const needsImage = image !== undefined && required.has(image);
  const audio = takes("audio");
  switch (modality) {
    case "image":
      return [...(needsImage ? [] : ["image" as const]), ...(image ? ["edit" as const] : [])];
    case "video":
      return [...(needsImage ? [] : ["video" as const]), ...(image ? ["image-to-video" as const] : [])];
    case "audio":
      return ["music"];
    case "model3d":
      return [...(needsImage ? [] : ["3d" as const]), ...(image ? ["image-to-3d" as const] : [])];
    case "text":
      if (audio && required.has(audio)) return ["transcribe"];
      return needsImage ? [] : ["text"];
  }
};

export const tasksOf = (entry: ModelDescription & { tasks?: TaskName[] | undefined }): TaskName[] => entry.tasks ?? derived(entry);

/** Maximum models in the order of one task. */
export const MAX_ORDER = 100;

/** Returns problems of an order. @param doing models that support the task */
export const orderIssues = (task: string, order: readonly string[], doing: readonly string[]): { path: string; message: string }[] => {
  if (!isTaskName(task)) return [{ path: "task", message: `must be one of: ${TASK_NAMES.join(", ")}` }];
  if (order.length > MAX_ORDER) return [{ path: "order", message: `must have at most ${MAX_ORDER} models` }];
  return order.flatMap((name, index) => {
    const path = `order.${index}`;
    if (!doing.includes(name)) return [{ path, message: `${name} isn't a model for ${task}` }];
    return order.indexOf(name) < index ? [{ path, message: `${name} is listed twice` }] : [];
  });
};
