import { PLAIN, UNKNOWN, type Shape } from "../values/shape";
import type { Expression } from "./parse";

type ListShape = Extract<Shape, { kind: "list" }>;
type Slice = Extract<Expression, { type: "slice" }>;

const ANY_LIST = { kind: "list", least: 0, most: Infinity, item: UNKNOWN } as const;

/** The maximum number of elements that a slice takes from a list of at most `most` elements. */
const sliceMost = ({ start, stop, step }: Slice, most: number): number => {
  const by = Math.abs(step ?? 1);
  const [from, to] = (step ?? 1) > 0 ? [start ?? 0, stop] : [stop, start];
  // If both indices count from the same end, their difference is the bound; otherwise the list's length is.
  const length = from !== null && to !== null && from < 0 === to < 0 ? to - from : most;
  const toTheEnd = step === null || step > 0 ? (from! < 0 ? -from! : most - from!) : most;
  return Math.max(0, Math.ceil(Math.min(most, length, to === null ? toTheEnd : most) / by));
};

const sliced = (of: ListShape, slice: Slice): Shape => {
  const most = sliceMost(slice, of.most);
  const isPrefix = (slice.start ?? 0) === 0 && (slice.step ?? 1) === 1 && (slice.stop === null || slice.stop >= 0);
  return { ...of, least: isPrefix ? Math.min(of.least, slice.stop ?? Infinity) : 0, most };
};

const either = (a: Shape, b: Shape): Shape => {
  const isThere = a.isThere && b.isThere;
  if (a.kind === "list" && b.kind === "list")
    return { kind: "list", isThere, least: Math.min(a.least, b.least), most: Math.max(a.most, b.most), item: either(a.item, b.item) };
  return a.kind === "plain" && b.kind === "plain" ? { kind: "plain", isThere } : { ...UNKNOWN, isThere };
};

/** The length and item shape of a list that is flattened by one level. */
const flattened = (of: ListShape): ListShape => {
  const { item } = of;
  if (item.kind === "plain" || item.kind === "object") return of;
  if (item.kind === "unknown") return { ...of, ...ANY_LIST };
  // A missing item counts as at most one element that isn't a list.
  const [least, most] = item.isThere ? [item.least, item.most] : [0, Math.max(1, item.most)];
  return {
    ...of,
    least: of.least * least,
    most: of.most === 0 || most === 0 ? 0 : of.most * most,
    item: item.isThere ? item.item : UNKNOWN,
  };
};

/** The shape of a projection. Elements for which the right side is null are dropped. */
const projected = (over: ListShape, right: Expression): Shape => {
  const itemShape = shapeOf(right, over.item);
  return {
    kind: "list",
    isThere: over.isThere,
    least: itemShape.isThere ? over.least : 0,
    most: over.most,
    item: { ...itemShape, isThere: true },
  };
};

/** The list that a projection iterates over. Other shapes have no elements. */
const listIn = (shape: Shape, right: Expression, change: (list: ListShape) => ListShape = (list) => list): Shape => {
  if (shape.kind === "list") return projected(change(shape), right);
  return shape.kind === "unknown" ? { ...projected({ ...ANY_LIST, isThere: false }, right), isThere: false } : PLAIN;
};

/** The shape of the result of `evaluate`. A list has at most `most` elements, and a value of another shape is never a list. */
export const shapeOf = (expression: Expression, of: Shape): Shape => {
  switch (expression.type) {
    case "current":
      return of;
    case "field":
      if (of.kind === "object") {
        const member = of.members.get(expression.name) ?? UNKNOWN;
        return { ...member, isThere: member.isThere && of.isThere };
      }
      return of.kind === "unknown" ? UNKNOWN : PLAIN;
    case "index":
      if (of.kind !== "list") return of.kind === "unknown" ? UNKNOWN : PLAIN;
      return { ...of.item, isThere: of.item.isThere && of.isThere && expression.index >= 0 && expression.index < of.least };
    case "slice":
      if (of.kind === "list") return sliced(of, expression);
      return of.kind === "unknown" ? sliced({ ...ANY_LIST, isThere: false }, expression) : PLAIN;
    case "then":
      return shapeOf(expression.right, shapeOf(expression.left, of));
    case "project": {
      const left = shapeOf(expression.left, of);
      if (expression.of === "object") return left.kind === "list" || left.kind === "plain" ? PLAIN : { ...ANY_LIST, isThere: false };
      return listIn(left, expression.right, expression.of === "flatten" ? flattened : undefined);
    }
    case "filter":
      return listIn(shapeOf(expression.left, of), expression.right, (list) => ({ ...list, least: 0 }));
    case "or":
    case "and":
      return either(shapeOf(expression.left, of), shapeOf(expression.right, of));
    case "not":
    case "compare":
      return PLAIN;
    case "list": {
      const { length } = expression.elements;
      return { kind: "list", isThere: of.isThere, least: length, most: length, item: UNKNOWN };
    }
    case "object":
      return {
        kind: "object",
        isThere: of.isThere,
        members: new Map(expression.members.map(([name, member]) => [name, shapeOf(member, of)])),
      };
    default:
      return UNKNOWN;
  }
};
