/** A decorative picture of a pipeline for new visitors. */

interface Part {
  x: number;
  y: number;
  name: string;
  colour: string;
  /** Contents of the part: lines of text, or an output. */
  shows: "text" | "picture" | "clip" | "sound";
}
const WIDTH = 150;
const HEAD = 30;
const PARTS: readonly Part[] = [
  { x: 0, y: 96, name: "Idea", colour: "var(--port-text)", shows: "text" },
  { x: 215, y: 20, name: "Picture", colour: "var(--port-image)", shows: "picture" },
  { x: 215, y: 226, name: "Voice", colour: "var(--port-audio)", shows: "sound" },
  { x: 430, y: 96, name: "Film", colour: "var(--port-video)", shows: "clip" },
];
const HEIGHTS: Readonly<Record<Part["shows"], number>> = { text: 96, picture: 164, clip: 164, sound: 82 };
/** Links between parts by index, in the colour of the first part. */
const LINKS: readonly (readonly [number, number])[] = [
  [0, 1],
  [0, 2],
  [1, 3],
  [2, 3],
];
const LINES = [118, 92, 106];
const BARS = [8, 18, 30, 14, 24, 34, 20, 12, 28, 16, 26, 10, 20, 30, 14];
const THUMBS = [0, 1, 2, 3];

const Hills = ({ y, tall }: { y: number; tall: number }) => (
  <>
    <rect y={y} width={WIDTH} height={tall} fill="url(#sky)" />
    <circle cx={104} cy={y + tall * 0.42} r={15} fill="#ffe2b0" />
    <path
      d={`M0 ${y + tall * 0.72} Q36 ${y + tall * 0.42} 78 ${y + tall * 0.7} T${WIDTH} ${y + tall * 0.58} V${y + tall} H0Z`}
      fill="#2f3f86"
    />
    <path
      d={`M0 ${y + tall * 0.88} Q52 ${y + tall * 0.62} 102 ${y + tall * 0.86} T${WIDTH} ${y + tall * 0.8} V${y + tall} H0Z`}
      fill="#1c2450"
    />
  </>
);

const Shows = ({ shows }: Pick<Part, "shows">) => {
  if (shows === "text")
    return LINES.map((width, index) => (
      <rect key={width} x={14} y={HEAD + 14 + index * 16} width={width} height={6} rx={3} fill="var(--line-strong)" />
    ));
  if (shows === "sound")
    return (
      <>
        <rect y={HEAD} width={WIDTH} height={HEIGHTS.sound - HEAD} fill="var(--media)" />
        {BARS.map((tall, index) => (
          <rect key={index} x={14 + index * 8.4} y={HEAD + 26 - tall / 2} width={4} height={tall} rx={2} fill="var(--port-audio)" />
        ))}
      </>
    );
  return (
    <>
      <rect y={HEAD} width={WIDTH} height={HEIGHTS[shows] - HEAD} fill="var(--media)" />
      <Hills y={HEAD} tall={98} />
      {shows === "clip" && <path d="M66 65 L92 79 L66 93Z" fill="#fff" opacity={0.92} />}
      {THUMBS.map((index) => (
        <rect key={index} x={8 + index * 34} y={HEAD + 105} width={30} height={22} rx={4} fill="url(#sky)" opacity={1 - index * 0.18} />
      ))}
    </>
  );
};

/** Height of a part's links: the middle of its head. */
const PORT = HEAD / 2;

export const SignInPicture = () => (
  <svg viewBox="-12 0 606 330" className="w-full" aria-hidden>
    <defs>
      <linearGradient id="sky" x1="0" y1="0" x2="0" y2="1">
        <stop offset="0" stopColor="#4a3b9c" />
        <stop offset="0.55" stopColor="#e0668f" />
        <stop offset="1" stopColor="#ffb36b" />
      </linearGradient>
    </defs>
    {LINKS.map(([from, to]) => {
      const [a, b] = [PARTS[from]!, PARTS[to]!];
      const [left, right, bend] = [a.x + WIDTH, b.x, (b.x - a.x - WIDTH) / 2];
      const d = `M${left} ${a.y + PORT} C${left + bend} ${a.y + PORT} ${right - bend} ${b.y + PORT} ${right} ${b.y + PORT}`;
      return <path key={`${from} ${to}`} d={d} fill="none" stroke={a.colour} strokeWidth={2.5} />;
    })}
    {PARTS.map(({ x, y, name, colour, shows }) => (
      <g key={name} transform={`translate(${x} ${y})`}>
        <clipPath id={`part-${name}`}>
          <rect width={WIDTH} height={HEIGHTS[shows]} rx={10} />
        </clipPath>
        <g clipPath={`url(#part-${name})`}>
          <rect width={WIDTH} height={HEIGHTS[shows]} fill="var(--surface)" />
          <rect width={WIDTH} height={HEAD} fill={colour} opacity={0.16} />
          <rect width={WIDTH} height={3} fill={colour} />
          <Shows shows={shows} />
        </g>
        <rect width={WIDTH} height={HEIGHTS[shows]} rx={10} fill="none" stroke="var(--line)" />
        <text x={14} y={20} fontSize={12} fontWeight={600} fill="var(--text)">
          {name}
        </text>
        <circle cx={x === 0 ? WIDTH : 0} cy={PORT} r={4.5} fill={colour} stroke="var(--surface)" strokeWidth={2} />
      </g>
    ))}
  </svg>
);
