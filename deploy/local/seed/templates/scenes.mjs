/** Pictures of a day by the sea as SVG, for the templates. */

export const SIZE = { width: 1280, height: 720 };

/** Deterministic numbers for a seed. @param {number} seed @returns {() => number} */
const numbers = (seed) => {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
};

/** @param {number} count @param {(index: number, next: () => number) => string} draw @param {number} seed */
const many = (count, draw, seed) => {
  const next = numbers(seed);
  return Array.from({ length: count }, (_, index) => draw(index, next)).join("");
};

/** Colours from top to bottom. @param {string} id @param {readonly string[]} colours */
const gradient = (id, colours) =>
  `<linearGradient id="${id}" x1="0" y1="0" x2="0" y2="1">${colours.map((colour, index) => `<stop offset="${index / (colours.length - 1)}" stop-color="${colour}"/>`).join("")}</linearGradient>`;

/** @param {readonly string[]} sky @param {readonly string[]} sea @param {number} horizon @param {string} content */
const scene = (sky, sea, horizon, content) => `<svg xmlns="http://www.w3.org/2000/svg" width="${SIZE.width}" height="${SIZE.height}">
<defs>${gradient("sky", sky)}${gradient("sea", sea)}<filter id="soft" x="-50%" y="-50%" width="200%" height="200%"><feGaussianBlur stdDeviation="16"/></filter>
<filter id="haze" x="-50%" y="-50%" width="200%" height="200%"><feGaussianBlur stdDeviation="40"/></filter></defs>
<rect width="${SIZE.width}" height="${horizon}" fill="url(#sky)"/><rect y="${horizon}" width="${SIZE.width}" height="${SIZE.height - horizon}" fill="url(#sea)"/>
${content}</svg>`;

/** @param {number} x @param {number} y @param {number} scale @param {string} colour @param {number} opacity */
const cloud = (x, y, scale, colour, opacity) =>
  `<g transform="translate(${x} ${y}) scale(${scale})" fill="${colour}" opacity="${opacity}" filter="url(#soft)"><ellipse rx="120" ry="26"/><ellipse cx="-50" cy="-22" rx="62" ry="36"/><ellipse cx="34" cy="-30" rx="76" ry="44"/><ellipse cx="90" cy="-8" rx="56" ry="28"/></g>`;

/** Reflections on water, wider in front. @param {number} x @param {number} top @param {string} colour @param {number} seed */
const glitter = (x, top, colour, seed) =>
  many(
    60,
    (index, next) => {
      const down = (index / 60) ** 1.4;
      const y = top + 6 + down * (SIZE.height - top - 10);
      const width = 12 + down * 130 * next();
      return `<rect x="${(x + (next() - 0.5) * (40 + down * 240) - width / 2).toFixed(1)}" y="${y.toFixed(1)}" width="${width.toFixed(1)}" height="${(1.5 + down * 5).toFixed(1)}" rx="2" fill="${colour}" opacity="${(0.25 + 0.5 * next()).toFixed(2)}"/>`;
    },
    seed,
  );

/** @param {number} top @param {string} colour @param {number} seed */
const waves = (top, colour, seed) =>
  many(
    46,
    (index, next) => {
      const down = index / 46;
      const y = top + 8 + down ** 1.5 * (SIZE.height - top);
      const [x, length] = [next() * SIZE.width, 40 + down * 160];
      return `<path d="M${x.toFixed(0)} ${y.toFixed(0)}q${(length / 2).toFixed(0)} ${(-4 - down * 9).toFixed(0)} ${length.toFixed(0)} 0" fill="none" stroke="${colour}" stroke-width="${(1 + down * 2.5).toFixed(1)}" opacity="${(0.15 + 0.3 * next()).toFixed(2)}"/>`;
    },
    seed,
  );

/** @param {number} x @param {number} y @param {number} scale @param {string} hull @param {string} sail */
const sailboat = (x, y, scale, hull, sail) =>
  `<g transform="translate(${x} ${y}) scale(${scale})"><path d="M-6-150V0" stroke="#3b2b20" stroke-width="5"/><path d="M-1-148Q62-70 66-14H-1z" fill="${sail}"/><path d="M-12-132Q-50-66-54-14h42z" fill="${sail}" opacity=".82"/><path d="M-74-8H82Q66 26 40 28H-44Q-66 22-74-8z" fill="${hull}"/></g>`;

/** @param {number} x @param {number} y @param {number} scale @param {string} light */
const lighthouse = (x, y, scale, light) =>
  `<g transform="translate(${x} ${y}) scale(${scale})"><path d="M-34 0l10-250h48l10 250z" fill="#f4efe6"/>${[0, 1, 2].map((index) => `<path d="M${-33 + index * 3} ${-24 - index * 78}l1.4-36h${63.2 - index * 6}l1.4 36z" fill="#c8352b"/>`).join("")}<rect x="-34" y="-262" width="68" height="13" rx="3" fill="#2e3942"/><rect x="-20" y="-304" width="40" height="42" fill="${light}"/><path d="M-27-304h54l-27-34z" fill="#a92a22"/><path d="M24-250L34 0H12L10-250z" fill="#000" opacity=".14"/></g>`;

/** @param {string} path @param {string} colour */
const land = (path, colour) => `<path d="${path}" fill="${colour}"/>`;

const harbour = scene(
  ["#2c3d6b", "#8a5f8f", "#f0906b", "#ffd491"],
  ["#e79b72", "#7a5c7d", "#27335a"],
  400,
  `<circle cx="860" cy="392" r="120" fill="#ffe3a8" opacity=".55" filter="url(#haze)"/><circle cx="860" cy="388" r="46" fill="#fff1cf"/>
${cloud(300, 170, 1.5, "#ffb59a", 0.6)}${cloud(1060, 120, 1.2, "#f6a0a0", 0.5)}
${land("M0 400V330q90-30 150 0 60-44 150-6 90-36 150 20l40 56z", "#3c3558")}${land("M980 400q80-60 160-44 80-30 140 6v38z", "#4a3d63")}
${many(9, (index, next) => `<rect x="${40 + index * 44}" y="${(340 - next() * 34).toFixed(0)}" width="32" height="70" fill="#2a2743"/><rect x="${50 + index * 44}" y="360" width="7" height="9" fill="#ffd78c"/>`, 7)}
${glitter(860, 400, "#ffe6b5", 3)}${sailboat(520, 520, 1.1, "#241f38", "#3a3150")}${sailboat(230, 470, 0.6, "#241f38", "#3a3150")}
<path d="M0 640h420l30 80H0z" fill="#1c1930"/><path d="M60 640v-60M180 640v-60M300 640v-60M400 640v-50" stroke="#1c1930" stroke-width="14"/>`,
);

const lighthouseScene = scene(
  ["#3f86c7", "#8cc0e8", "#d8ecf6"],
  ["#3d8fb0", "#1f6488", "#134a6b"],
  430,
  `${cloud(240, 150, 1.5, "#ffffff", 0.9)}${cloud(560, 240, 1, "#ffffff", 0.7)}${cloud(1120, 110, 1.3, "#ffffff", 0.85)}${waves(430, "#ffffff", 11)}
${land("M700 470q40-70 130-80 60-40 150-26 110 6 160 60 80 10 140 60v236H640q10-150 60-250z", "#5d6a52")}${land("M640 720q10-150 60-250l60 30-30 90 40 130z", "#46503f")}
${land("M760 500q70-70 200-60 120-6 180 50l-80 40q-120-50-230 0z", "#7f9a5c")}${lighthouse(950, 448, 1.15, "#fff0b0")}
<path d="M1060 440h90v-50l-45-32-45 32z" fill="#efe6d8"/><path d="M1050 392l55-42 55 42z" fill="#8d4436"/><rect x="1090" y="405" width="28" height="35" fill="#5b7a8c"/>
<path d="M600 700q40-30 90-20 20 26 60 40H590z" fill="#fff" opacity=".55" filter="url(#soft)"/>${many(5, (index, next) => `<path d="M${150 + index * 90} ${(200 + next() * 120).toFixed(0)}q12-12 22 0 12-12 22 0" fill="none" stroke="#34566b" stroke-width="4"/>`, 21)}`,
);

const UMBRELLAS = ["#e4572e", "#f3a712", "#2e86ab", "#d1495b", "#f6f1e5"];
const beach = scene(
  ["#58b3e4", "#a9dcf2", "#e9f6f4"],
  ["#2aa7b8", "#57c7c4", "#bfe9dc"],
  300,
  `<circle cx="1010" cy="90" r="150" fill="#fff8dc" opacity=".7" filter="url(#haze)"/>${cloud(330, 120, 1.3, "#ffffff", 0.8)}${waves(310, "#ffffff", 31)}
<path d="M0 520q200-60 420-20t430-30 430-20v270H0z" fill="#fff" opacity=".8"/><path d="M0 536q200-56 420-16t430-30 430-16v246H0z" fill="#efd6a4"/><path d="M0 620q320-50 640-10t640-30v140H0z" fill="#e5c68d"/>
${UMBRELLAS.map((colour, index) => {
  const [x, y, size] = [150 + index * 245, 610 - (index % 2) * 44, 1 + (index % 3) * 0.16];
  return `<g transform="translate(${x} ${y}) scale(${size})"><ellipse cx="26" cy="62" rx="92" ry="12" fill="#8a6d3b" opacity=".35"/><path d="M0-70L12 60" stroke="#7a5a3a" stroke-width="6"/><path d="M-92-46Q-70-128 0-130 72-128 92-46 60-62 46-44 20-62 0-44-24-62-46-44-64-62-92-46z" fill="${colour}"/><path d="M-46-44Q-34-110 0-130 34-108 46-44 20-62 0-44-24-62-46-44z" fill="#fff" opacity=".45"/><rect x="24" y="42" width="70" height="16" rx="6" fill="${UMBRELLAS[(index + 2) % 5]}"/></g>`;
}).join("")}`,
);

const regatta = scene(
  ["#6fb1d8", "#bfe0ee", "#f4f1e2"],
  ["#4d93ad", "#2a6f92", "#164e73"],
  380,
  `${land("M0 380L150 250l90 70 130-130 150 130 110-80 170 140z", "#8fa9b8")}${land("M560 380l190-150 120 80 120-110 290 180z", "#7793a6")}${land("M370 190l40 40-34-8-30 14z", "#f6f9fa")}${land("M990 200l46 28-40 2-30 14z", "#f6f9fa")}
${cloud(900, 110, 1.2, "#ffffff", 0.8)}${waves(380, "#dff3f8", 41)}
${sailboat(240, 440, 0.62, "#3a4a56", "#fbf7ec")}${sailboat(1090, 430, 0.5, "#3a4a56", "#f3e3d0")}${sailboat(500, 500, 1, "#b23a2f", "#fffaf0")}${sailboat(860, 610, 1.6, "#20445c", "#fbe9c8")}
<path d="M740 642q120 22 250 4" stroke="#fff" stroke-width="8" fill="none" opacity=".7"/><path d="M420 516q90 16 170 2" stroke="#fff" stroke-width="5" fill="none" opacity=".6"/>`,
);

const pier = scene(
  ["#31456f", "#a4607c", "#f08a4b", "#ffc46b"],
  ["#d98b56", "#8a5566", "#33375c"],
  390,
  `<circle cx="420" cy="380" r="150" fill="#ffd98a" opacity=".6" filter="url(#haze)"/><circle cx="420" cy="366" r="52" fill="#fff0c2"/>${cloud(900, 130, 1.6, "#e9807a", 0.55)}${cloud(200, 200, 1.1, "#ffb27a", 0.5)}${glitter(420, 390, "#ffdf9e", 53)}
<path d="M520 400L640 396 1280 640v80H700z" fill="#5a3d2f"/>${many(15, (index) => `<path d="M${530 + index * 14 + index ** 2 * 1.9} ${408 + index * 20}L${650 + index * 42} ${398 + index * 16}" stroke="#3e291f" stroke-width="${1.5 + index * 0.3}"/>`, 1)}
${[0, 1, 2, 3].map((index) => `<g transform="translate(${648 + index * 168} ${398 + index * 64}) scale(${0.45 + index * 0.3})"><path d="M0 0v-210" stroke="#241a22" stroke-width="9"/><circle cy="-220" r="46" fill="#ffe2a0" opacity=".5" filter="url(#soft)"/><circle cy="-220" r="15" fill="#fff3cf"/></g>`).join("")}
<path d="M650 396L1280 560" stroke="#2e1f22" stroke-width="6"/><g fill="#1f1822"><circle cx="790" cy="404" r="13"/><path d="M776 482l4-60q10-10 20 0l6 60z"/><circle cx="824" cy="412" r="12"/><path d="M812 488l3-58q9-9 18 0l5 58z"/></g>`,
);

const night = scene(
  ["#050b1f", "#10234a", "#2b4a77"],
  ["#1c3761", "#0d1f40", "#060d20"],
  420,
  `${many(130, (_, next) => `<circle cx="${(next() * SIZE.width).toFixed(0)}" cy="${(next() * 380).toFixed(0)}" r="${(0.7 + next() * 1.7).toFixed(1)}" fill="#fff" opacity="${(0.4 + 0.6 * next()).toFixed(2)}"/>`, 61)}
<circle cx="980" cy="150" r="130" fill="#cfe0ff" opacity=".35" filter="url(#haze)"/><circle cx="980" cy="150" r="58" fill="#f2f4ff"/><circle cx="962" cy="136" r="10" fill="#d6daea"/><circle cx="1000" cy="168" r="14" fill="#d9ddec"/>
<path d="M330 150L1280 20v200L330 176z" fill="#fff3bd" opacity=".22" filter="url(#soft)"/>${glitter(980, 420, "#dfe9ff", 67)}
${land("M0 470q70-80 190-84 130-10 210 40 60 34 110 44l-30 250H0z", "#070c1a")}${lighthouse(290, 400, 0.8, "#fff6c8")}<rect x="120" y="352" width="70" height="46" fill="#0b1224"/><path d="M112 354l43-34 43 34z" fill="#0b1224"/><rect x="146" y="368" width="14" height="16" fill="#ffd47a"/>${sailboat(720, 520, 0.8, "#04081a", "#0c1630")}`,
);

/** Pictures by file name. @type {Readonly<Record<string, string>>} */
export const SCENES = { harbour, lighthouse: lighthouseScene, beach, regatta, pier, night };
