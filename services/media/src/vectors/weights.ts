import { fragmentOf, PRESENTATION, REFERRING, referencesIn } from "./allowed";
import { SVG_BOUNDS } from "../svg";

/** An element that is kept. */
export interface Shape {
  tag: string;
  /** Values by attribute name. `href` is a reference inside the file. */
  attributes: Map<string, string>;
  children: (Shape | string)[];
}

/** A reason to refuse a vector, which completes the sentence "the vector image …". */
export class VectorProblem extends Error {
  override readonly name = "VectorProblem";
}

const LOOPING = "refers to itself";
/** References are followed to this depth. Drawing programs recurse too. */
const MAX_REFERENCES = 100;

const hrefOf = ({ tag, attributes }: Shape): string[] => {
  const id = REFERRING.has(tag) ? fragmentOf(attributes.get("href") ?? "") : undefined;
  return id === undefined ? [] : [id];
};

const idsOf = (shape: Shape): string[] => [
  ...hrefOf(shape),
  ...[...shape.attributes].flatMap(([name, value]) => (PRESENTATION.has(name) ? (referencesIn(value) ?? []) : [])),
];

/**
 * Checks how many elements a program draws that replaces every reference by what it refers to.
 * @throws VectorProblem for a reference that contains itself, or for too many elements
 */
export const checkWeight = (root: Shape): void => {
  const shapes = new Map<string, Shape>();
  const collect = (shape: Shape): void => {
    const id = shape.attributes.get("id");
    if (id !== undefined && !shapes.has(id)) shapes.set(id, shape);
    for (const child of shape.children) if (typeof child !== "string") collect(child);
  };
  collect(root);
  const weights = new Map<Shape, number>();
  const open = new Set<Shape>();
  const weigh = (shape: Shape, references: number): number => {
    const cachedWeight = weights.get(shape);
    if (cachedWeight !== undefined) return cachedWeight;
    if (open.has(shape)) throw new VectorProblem(LOOPING);
    if (references > MAX_REFERENCES) throw new VectorProblem(`has references that follow each other more than ${MAX_REFERENCES} times`);
    open.add(shape);
    let weight = 1;
    for (const child of shape.children) if (typeof child !== "string") weight += weigh(child, references);
    for (const id of idsOf(shape)) {
      const target = shapes.get(id);
      if (target) weight += weigh(target, references + 1);
    }
    if (weight > SVG_BOUNDS.drawn) throw new VectorProblem(`draws more than ${SVG_BOUNDS.drawn} elements by references`);
    open.delete(shape);
    weights.set(shape, weight);
    return weight;
  };
  weigh(root, 0);
};
