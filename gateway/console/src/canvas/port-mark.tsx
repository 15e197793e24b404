import type { PortType } from "@nodeloom/kernel/graph";

/** Types differ in shape as well as colour. */
const SHAPES: Readonly<Record<PortType, string>> = {
  text: "M8 3.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9z",
  number: "M8 2.8 13.2 8 8 13.2 2.8 8z",
  boolean: "M8 3 13.4 12.4H2.6z",
  image: "M3.6 3.6h8.8v8.8H3.6z",
  mask: "M3.6 3.6h8.8v8.8H3.6zM8 5.6a2.4 2.4 0 1 0 0 4.8a2.4 2.4 0 1 0 0-4.8z",
  video: "M4 2.8 13.2 8 4 13.2z",
  audio: "M5.2 3.2h5.6L13.4 8l-2.6 4.8H5.2L2.6 8z",
  model3d: "M8 2.6 13 5.3v5.4L8 13.4 3 10.7V5.3z",
  media: "M6 3h4l0 3h3v4h-3v3H6v-3H3V6h3z",
  any: "M8 3.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9z",
};

export const portColour = (type: PortType): string => `var(--port-${type})`;

/** Mark of a port type; lists are doubled, and ports for any type hollow. */
export const PortMark = ({ type, list = false, size = 16 }: { type: PortType; list?: boolean; size?: number }) => (
  <svg viewBox="0 0 16 16" width={size} height={size} aria-hidden className="overflow-visible">
    {list && <path d={SHAPES[type]} transform="translate(2.4 -2.4)" fill="var(--surface)" stroke={portColour(type)} strokeWidth="1.4" />}
    <path
      d={SHAPES[type]}
      fill={type === "any" ? "var(--surface)" : portColour(type)}
      stroke={type === "any" ? portColour(type) : "var(--surface)"}
      strokeWidth={type === "any" ? 2 : 1.2}
      strokeLinejoin="round"
    />
  </svg>
);
