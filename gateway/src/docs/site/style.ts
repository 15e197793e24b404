/** Colours of the console (styles/tokens.css), and of code. */
const LIGHT = `--page: #fff; --sunken: #f4f4f1; --hover: #f0f0ed; --line: #e2e1dc; --text: #1d1d1b; --muted: #55534f; --accent: #3344c0; --accent-soft: #e9ecfd;
  --mark: #fdf0d9; --keyword: #8a2ba0; --string: #17703f; --number: #8a4b00; --name: #2451b3; --comment: #6b6964;`;
const DARK = `--page: #131417; --sunken: #1b1d21; --hover: #26282d; --line: #2e3036; --text: #ececea; --muted: #b0b2b8; --accent: #a5b2ff; --accent-soft: #252b4d;
  --mark: #4a3512; --keyword: #d7a6f2; --string: #6fd39b; --number: #f0b866; --name: #8fb4ff; --comment: #979aa3;`;

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#3b4fd8"/><path d="M9 10.5c5 0 5 11 14 11M9 21.5c5 0 5-11 14-11" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round"/><g fill="#fff"><circle cx="9" cy="10.5" r="2.6"/><circle cx="9" cy="21.5" r="2.6"/><circle cx="23" cy="10.5" r="2.6"/><circle cx="23" cy="21.5" r="2.6"/></g></svg>`;

/** One column with a linked navigation on phones, three columns on wide screens. */
const FRAME = `* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.6 "Inter Variable", system-ui, sans-serif; }
a { color: var(--accent); text-underline-offset: 2px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
ul { padding-left: 1.3em; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 16px; padding: 10px 16px; border-bottom: 1px solid var(--line); background: var(--page); }
header nav { display: flex; gap: 14px; margin-left: auto; font-size: 14px; white-space: nowrap; }
header nav a, .home { text-decoration: none; }
.home { display: flex; align-items: center; gap: 8px; color: var(--text); font-weight: 600; }
.home span { display: none; color: var(--muted); font-weight: 400; }
.skip { position: absolute; left: -999em; }
.skip:focus { position: static; }
form[role="search"] { display: flex; gap: 6px; min-width: 0; order: 1; flex: 1 0 100%; }
form[role="search"] input { flex: 1; min-width: 0; padding: 6px 10px; border: 1px solid var(--line); border-radius: 8px; background: var(--sunken); color: inherit; font: inherit; font-size: 16px; }
button { padding: 6px 12px; border: 1px solid var(--line); border-radius: 8px; background: var(--hover); color: inherit; font: inherit; font-size: 14px; cursor: pointer; }
.columns { max-width: 1440px; margin: 0 auto; }
main { min-width: 0; max-width: 820px; margin: 0 auto; padding: 8px 16px 48px; }
.navigation { display: none; padding: 12px 16px; border-bottom: 1px solid var(--line); background: var(--page); font-size: 14px; }
.navigation:target { display: block; }
.navigation summary, .contents summary { padding: 4px 0; font-weight: 600; cursor: pointer; }
.navigation ul, .contents ul { margin: 0 0 8px; padding: 0; list-style: none; }
.navigation li a { display: block; padding: 4px 10px; border-radius: 6px; color: var(--muted); text-decoration: none; overflow-wrap: anywhere; }
.navigation li a:hover { background: var(--hover); color: var(--text); }
.navigation li a[aria-current] { background: var(--accent-soft); color: var(--accent); font-weight: 600; }
.close { float: right; }
.contents { margin: 12px 16px 0; padding: 6px 12px; border: 1px solid var(--line); border-radius: 8px; font-size: 14px; }
.contents a { display: block; padding: 2px 0; color: var(--muted); text-decoration: none; overflow-wrap: anywhere; }
.contents a:hover { color: var(--accent); }
.contents .level-3 { padding-left: 14px; }
.neighbours { display: grid; grid-template-columns: 1fr 1fr; gap: 12px; margin-top: 48px; }
.neighbours a { padding: 10px 14px; border: 1px solid var(--line); border-radius: 8px; text-decoration: none; }
.neighbours [rel="next"] { text-align: right; }
.neighbours small { display: block; color: var(--muted); }
footer { margin-top: 16px; font-size: 14px; }
@media (min-width: 720px) {
  html { scroll-padding-top: 76px; }
  header { position: sticky; top: 0; z-index: 2; }
  .home span { display: inline; }
  form[role="search"] { order: 0; flex: 0 1 380px; }
}
@media (min-width: 920px) {
  .menu, .close { display: none; }
  .columns { display: grid; grid-template-columns: 250px minmax(0, 1fr); grid-template-areas: "navigation contents" "navigation main"; grid-template-rows: auto 1fr; }
  .navigation { display: block; grid-area: navigation; position: sticky; top: 57px; height: calc(100vh - 57px); overflow-y: auto; border: 0; border-right: 1px solid var(--line); }
  .contents { grid-area: contents; width: calc(100% - 32px); max-width: 788px; justify-self: center; }
  main { grid-area: main; width: 100%; padding: 8px 32px 64px; }
}
@media (min-width: 1200px) {
  .columns { grid-template-columns: 250px minmax(0, 1fr) 230px; grid-template-areas: "navigation main contents"; grid-template-rows: auto; }
  .contents { position: sticky; top: 73px; align-self: start; width: auto; max-height: calc(100vh - 90px); margin: 16px 12px 0 0; overflow-y: auto; border: 0; padding: 0; }
  .contents::details-content { content-visibility: visible; }
}
`;

const TEXT = `h1 { margin: .8em 0 .6em; font-size: 30px; line-height: 1.2; }
h2 { margin: 1.9em 0 .6em; padding-top: .5em; border-top: 1px solid var(--line); font-size: 22px; line-height: 1.3; }
h3 { margin: 1.6em 0 .5em; font-size: 18px; }
h1, h2, h3, p, li { overflow-wrap: anywhere; text-wrap: pretty; }
.anchor { color: var(--muted); font-weight: 400; text-decoration: none; opacity: 0; }
:is(h2, h3, h4):hover .anchor, .anchor:focus { opacity: 1; }
img { max-width: 100%; height: auto; }
main img[src$=".svg"] { padding: 8px; border-radius: 8px; background: #fff; }
code, pre { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, "DejaVu Sans Mono", monospace; font-size: .87em; }
code { padding: .1em .3em; border-radius: 4px; background: var(--sunken); overflow-wrap: anywhere; }
pre { overflow-x: auto; margin: 1em 0; padding: 14px 16px; border: 1px solid var(--line); border-radius: 10px; background: var(--sunken); line-height: 1.5; tab-size: 2; }
pre code { padding: 0; background: none; font-size: 1em; overflow-wrap: normal; }
.code { position: relative; }
.code button { position: absolute; top: 8px; right: 8px; padding: 2px 8px; font-size: 12px; opacity: 0; }
.code:hover button, .code button:focus-visible { opacity: 1; }
@media (hover: none) { .code button { opacity: 1; } }
.tab-bar { display: flex; gap: 6px; margin-bottom: -8px; }
.tab-bar button { padding: 2px 10px; font-size: 13px; }
.tab-bar button[aria-pressed="true"] { border-color: var(--accent); background: var(--accent-soft); color: var(--accent); }
table { display: block; max-width: 100%; overflow-x: auto; margin: 1em 0; border-collapse: collapse; font-size: 15px; }
th, td { padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: normal; }
.align-right { text-align: right; }
.align-center { text-align: center; }
td:last-child { min-width: 180px; }
main > details { margin: 1em 0; padding: 6px 12px; border: 1px solid var(--line); border-radius: 8px; }
main > details > summary { cursor: pointer; }
mark { border-radius: 3px; background: var(--mark); color: inherit; }
.hljs-comment, .hljs-meta { color: var(--comment); }
.hljs-keyword, .hljs-literal, .hljs-type { color: var(--keyword); }
.hljs-string, .hljs-regexp { color: var(--string); }
.hljs-number, .hljs-variable, .hljs-subst .hljs-variable { color: var(--number); }
.hljs-attr, .hljs-title, .hljs-built_in, .hljs-property { color: var(--name); }
`;

const FRONT = `.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 320px), 1fr)); gap: 12px; padding: 0; list-style: none; }
.cards a { display: block; height: 100%; padding: 14px 16px; border: 1px solid var(--line); border-radius: 10px; text-decoration: none; }
.cards a:hover { border-color: var(--accent); }
.cards span, .groups span { color: var(--muted); }
.cards span { display: block; margin-top: 4px; color: var(--muted); font-size: 15px; line-height: 1.45; }
.groups section ul { padding: 0; list-style: none; }
.groups li { margin: 6px 0; }
.found { padding: 0; list-style: none; }
.found li { margin: 0 0 20px; }
.found p { margin: 2px 0; color: var(--muted); font-size: 15px; }
.found small { color: var(--muted); }
`;

/** Colours of the theme, which follows the system or the choice made in the console. */
export const THEME = `:root { color-scheme: light; ${LIGHT} }
:root[data-theme="dark"] { color-scheme: dark; ${DARK} }
@media (prefers-color-scheme: dark) {
  :root:not([data-theme="light"]) { color-scheme: dark; ${DARK} }
}
`;

export const STYLE = `${THEME}${FRAME}${TEXT}${FRONT}`;
