/** What a stored vector can contain: shapes, texts, paints, and references inside the file. Everything else is removed. */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Elements that draw something by themselves. */
export const SHAPES = words("path rect circle ellipse line polyline polygon text use");
export const TEXTS = words("text tspan title desc");
export const ELEMENTS = new Set([
  ...SHAPES,
  ...TEXTS,
  ...words("svg g defs symbol linearGradient radialGradient stop clipPath mask pattern"),
]);

/** Attributes that style sheets and `style` attributes can set too. */
export const PRESENTATION = words(`
  clip-path clip-rule color display fill fill-opacity fill-rule font-family font-size font-style font-weight letter-spacing mask opacity
  overflow paint-order shape-rendering stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin
  stroke-miterlimit stroke-opacity stroke-width text-anchor text-decoration transform vector-effect visibility word-spacing
  dominant-baseline`);
const GEOMETRY = words(`
  id x y width height cx cy r rx ry x1 y1 x2 y2 fx fy fr dx dy d points rotate pathLength textLength lengthAdjust viewBox
  preserveAspectRatio offset gradientUnits gradientTransform spreadMethod patternUnits patternContentUnits patternTransform maskUnits
  maskContentUnits clipPathUnits xml:space`);
export const ATTRIBUTES: ReadonlySet<string> = new Set([...PRESENTATION, ...GEOMETRY]);

/** Elements whose `href` names another element of the file. */
export const REFERRING = words("use linearGradient radialGradient pattern");

const ID = /^[\w.:-]+$/;
const FRAGMENT = /^#([\w.:-]+)$/;
const FUNCTIONS = words("rgb rgba hsl hsla matrix translate scale rotate skewX skewY url");
/** More than the longest name has, so that no cut name equals one. */
const MAX_NAME_CHARS = 12;
const MAX_VALUE_CHARS = 4_000;
/** Attributes whose values can be long. */
const LONG = words("d points");
const OUTLINE = /^[\s\d.,+\-A-Za-z]*$/;
const INNER_URL = /^\s*(?:#([\w.:-]+)|"#([\w.:-]+)"|'#([\w.:-]+)')\s*\)/;

/** Id of a reference such as `#shade`; undefined for an address outside of the file. */
export const fragmentOf = (value: string): string | undefined => FRAGMENT.exec(value.trim())?.[1];

/** Ids in `url(#id)`; undefined if the value has another function or address. */
export const referencesIn = (value: string): string[] | undefined => {
  const ids: string[] = [];
  for (let at = value.indexOf("("); at >= 0; at = value.indexOf("(", at + 1)) {
    const name = value
      .slice(Math.max(0, at - MAX_NAME_CHARS), at)
      .split(/[^\w-]/)
      .at(-1)!;
    if (!FUNCTIONS.has(name)) return undefined;
    if (name !== "url") continue;
    const inner = INNER_URL.exec(value.slice(at + 1, at + 1 + MAX_VALUE_CHARS));
    if (!inner) return undefined;
    ids.push((inner[1] ?? inner[2] ?? inner[3])!);
  }
  return ids;
};

/** True if the value is plain: no escapes, no addresses, no functions but colors, transforms and `url(#id)`. */
export const isPlainValue = (name: string, value: string): boolean => {
  if (name === "id") return ID.test(value);
  if (LONG.has(name)) return OUTLINE.test(value);
  return value.length <= MAX_VALUE_CHARS && !/[\\<>{}@]|\/\/|\w:\w/.test(value) && referencesIn(value) !== undefined;
};
