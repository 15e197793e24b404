import { DOMParser, onWarningStopParsing, type Element, type Node } from "@xmldom/xmldom";
import { metadataElement } from "../marks/formats/svg";
import { addressOf, newPacket, SOURCE_TYPES } from "../marks/xmp";
import { ATTRIBUTES, ELEMENTS, fragmentOf, isPlainValue, REFERRING, SHAPES, TEXTS } from "./allowed";
import { addRules, stylesOf, type Styles } from "./styles";
import { SVG_BOUNDS, SVG_TYPE } from "../svg";
import { checkWeight, VectorProblem, type Shape } from "./weights";

/**
 * Rewrites vector images (SVG). The result is written from what is allowed, so it contains no scripts, event handlers, style sheets,
 * links, foreign documents, entities or addresses of other files. Format: https://www.w3.org/TR/SVG2/
 */

const NAMESPACE = "http://www.w3.org/2000/svg";
const DEFAULT_SIZE = { width: 300, height: 150 } as const;
const ELEMENT = 1;
const TEXT = 3;
const CDATA = 4;

/** @throws VectorProblem */
export const checkVectorBytes = (bytes: number): void => {
  if (bytes > SVG_BOUNDS.bytes) throw new VectorProblem(`is larger than ${SVG_BOUNDS.bytes} bytes`);
};

const decoded = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new VectorProblem("isn't UTF-8 text");
  }
};

const tooManyElements = (): VectorProblem => new VectorProblem(`has more than ${SVG_BOUNDS.elements} elements`);

/** The parser builds the whole tree, so elements are counted before. An element has at most two tags; comments count as well. */
const checkTags = (text: string): void => {
  let tags = 0;
  for (let at = text.indexOf("<"); at >= 0; at = text.indexOf("<", at + 1)) tags += 1;
  if (tags > 2 * SVG_BOUNDS.elements) throw tooManyElements();
};

const parse = (text: string): Element => {
  checkTags(text);
  try {
    const document = new DOMParser({ locator: false, onError: onWarningStopParsing }).parseFromString(text, SVG_TYPE);
    if (document.doctype?.internalSubset) throw new VectorProblem("defines entities in its document type: save it without them");
    return document.documentElement!;
  } catch (error) {
    if (error instanceof VectorProblem) throw error;
    throw new VectorProblem("isn't well-formed XML");
  }
};

const isElement = (node: Node): node is Element => node.nodeType === ELEMENT;
const childrenOf = (element: Element): Node[] => {
  const children: Node[] = [];
  for (let node: Node | null = element.firstChild; node; node = node.nextSibling) children.push(node);
  return children;
};
/** Some programs write no namespace. */
const isSvgElement = ({ namespaceURI }: Element): boolean => namespaceURI === NAMESPACE || !namespaceURI;

/** Collects style sheets, and checks the depth of the tree. */
const rulesIn = (root: Element): Map<string, Styles> => {
  const rules = new Map<string, Styles>();
  let elements = 0;
  const visit = (element: Element, level: number): void => {
    if (level > SVG_BOUNDS.levels) throw new VectorProblem(`has more than ${SVG_BOUNDS.levels} levels of elements`);
    elements += 1;
    if (elements > SVG_BOUNDS.elements) throw tooManyElements();
    if (element.localName === "style" && isSvgElement(element)) addRules(rules, element.textContent ?? "");
    for (const child of childrenOf(element)) if (isElement(child)) visit(child, level + 1);
  };
  visit(root, 1);
  return rules;
};

const attributesOf = (element: Element, tag: string, rules: ReadonlyMap<string, Styles>): Map<string, string> => {
  const ownValues: Styles = new Map();
  let href: string | undefined;
  for (const { name, localName, value } of element.attributes) {
    if (localName === "href" && REFERRING.has(tag)) href ??= fragmentOf(value);
    else if (ATTRIBUTES.has(name) && isPlainValue(name, value)) ownValues.set(name, value);
  }
  const read = (name: string): string => element.getAttribute(name) ?? "";
  const styles = stylesOf(rules, { tag, classes: read("class"), id: read("id"), style: read("style") });
  return new Map([...ownValues, ...styles, ...(href === undefined ? [] : [["href", `#${href}`] as const])]);
};

const shapeOf = (element: Element, rules: ReadonlyMap<string, Styles>): Shape | undefined => {
  if (!isSvgElement(element)) return undefined;
  // A link keeps its drawing and loses its address.
  const tag = element.localName === "a" ? "g" : (element.localName ?? "");
  if (!ELEMENTS.has(tag)) return undefined;
  const children = childrenOf(element).flatMap((node): (Shape | string)[] => {
    if (isElement(node)) return [shapeOf(node, rules)].filter((shape) => shape !== undefined);
    return TEXTS.has(tag) && (node.nodeType === TEXT || node.nodeType === CDATA) ? [node.nodeValue ?? ""] : [];
  });
  return { tag, attributes: attributesOf(element, tag, rules), children };
};

const draws = ({ tag, children }: Shape): boolean => SHAPES.has(tag) || children.some((child) => typeof child !== "string" && draws(child));

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i;
const UNITS: Readonly<Record<string, number>> = { px: 1, pt: 4 / 3, pc: 16, mm: 96 / 25.4, cm: 96 / 2.54, in: 96 };
const UNIT_CHARS = 2;

/** Length in pixels; undefined for a share, or if it can't be read. */
const pixelsOf = (text = ""): number | undefined => {
  const length = text.trim().toLowerCase();
  const unit = UNITS[length.slice(-UNIT_CHARS)];
  const digits = unit === undefined ? length : length.slice(0, -UNIT_CHARS).trim();
  const pixels = NUMBER.test(digits) ? Number(digits) * (unit ?? 1) : 0;
  return pixels > 0 && Number.isFinite(pixels) ? pixels : undefined;
};

const boxOf = (text = ""): readonly [number, number, number, number] | undefined => {
  const numbers = text
    .trim()
    .split(/[\s,]+/)
    .map((part) => (NUMBER.test(part) ? Number(part) : Number.NaN));
  const [x = 0, y = 0, width = 0, height = 0] = numbers;
  const isBox = numbers.length === 4 && numbers.every(Number.isFinite) && width > 0 && height > 0;
  return isBox ? [x, y, width, height] : undefined;
};

/** The longer side is at most this many times the shorter one. Otherwise a picture of the vector could have no pixel. */
const MAX_RATIO = 1_000;
const side = (length: number, otherLength: number): number =>
  Math.min(SVG_BOUNDS.side, Math.max(1, Math.round(Math.max(length, Math.min(otherLength, SVG_BOUNDS.side) / MAX_RATIO))));

/** Writes a size in pixels and a view box on the root, so that every program draws the file at the same size. */
const sizeRoot = (attributes: Map<string, string>): void => {
  const box = boxOf(attributes.get("viewBox"));
  const [wide, high] = [pixelsOf(attributes.get("width")), pixelsOf(attributes.get("height"))];
  const [boxWide, boxHigh] = box ? [box[2], box[3]] : [wide ?? DEFAULT_SIZE.width, high ?? DEFAULT_SIZE.height];
  const width = wide ?? (high === undefined ? boxWide : (high * boxWide) / boxHigh);
  const height = high ?? (width * boxHigh) / boxWide;
  attributes.set("width", String(side(width, height)));
  attributes.set("height", String(side(height, width)));
  attributes.set("viewBox", (box ?? [0, 0, boxWide, boxHigh]).join(" "));
};

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
/** Characters that XML doesn't allow. */
const INVALID =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const escaped = (text: string): string => text.replace(INVALID, "").replace(/[&<>"']/g, (sign) => ESCAPES[sign]!);

const write = ({ tag, attributes, children }: Shape, parts: string[], head = ""): void => {
  parts.push(`<${tag}`, ...[...attributes].map(([name, value]) => ` ${name}="${escaped(value)}"`));
  if (children.length === 0 && head === "") return void parts.push("/>");
  parts.push(">", head);
  for (const child of children) {
    if (typeof child === "string") parts.push(escaped(child));
    else write(child, parts);
  }
  parts.push(`</${tag}>`);
};

/**
 * Returns the vector without anything that isn't allowed. A mark of generated files is kept.
 * @param bytes a file of a size that was checked
 * @throws VectorProblem if it can't be read, exceeds a bound or draws nothing
 */
export const sanitizeSvg = (bytes: Uint8Array): string => {
  const text = decoded(bytes);
  const element = parse(text);
  const root = element.localName === "svg" ? shapeOf(element, rulesIn(element)) : undefined;
  if (!root) throw new VectorProblem("doesn't begin with an svg element");
  if (!draws(root)) throw new VectorProblem("draws nothing: it has no shape or text that is allowed");
  checkWeight(root);
  sizeRoot(root.attributes);
  root.attributes = new Map([["xmlns", NAMESPACE], ...root.attributes]);
  const sourceType = SOURCE_TYPES.find((type) => text.includes(addressOf(type)));
  const parts: string[] = [];
  write(root, parts, sourceType && metadataElement(newPacket(sourceType)));
  return parts.join("");
};
