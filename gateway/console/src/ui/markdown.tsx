import type { ReactNode } from "react";

/** A subset of Markdown: headings, lists, bold, italic, code and links. Each line keeps its height, and nothing is HTML. */

const INLINE = /\*\*([^*]+)\*\*|__([^_]+)__|\*([^*\s][^*]*)\*|`([^`]+)`|\[([^[\]]+)\]\(([^\s()]+)\)|(https:\/\/[^\s<>"')\]]+)/g;
const HEADING = /^(#{1,6})\s(.+)$/;
const ITEM = /^(\s*)(?:[-*+]|(\d{1,9}[.)]))\s(.*)$/;
const INDENT_PX = 8;

type SafeUrl = (address: string) => string | undefined;

const linkTo = (href: string | undefined, text: string, key: number): ReactNode =>
  href === undefined ? (
    text
  ) : (
    <a key={key} href={href} target="_blank" rel="noopener noreferrer" className="nodrag text-accent-text underline">
      {text}
    </a>
  );

const inline = (text: string, safeUrl: SafeUrl): ReactNode[] => {
  const parts: ReactNode[] = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, bold, bold2, italic, code, label, target, address] = match;
    parts.push(text.slice(from, match.index));
    from = match.index + whole.length;
    const strong = bold ?? bold2;
    if (strong !== undefined) parts.push(<strong key={from}>{inline(strong, safeUrl)}</strong>);
    else if (italic !== undefined) parts.push(<em key={from}>{inline(italic, safeUrl)}</em>);
    else if (code !== undefined) parts.push(<code key={from}>{code}</code>);
    else parts.push(linkTo(safeUrl(target ?? address!), label ?? address!, from));
  }
  return [...parts, text.slice(from)];
};

const line = (text: string, safeUrl: SafeUrl): ReactNode => {
  const [, marks, title] = HEADING.exec(text) ?? [];
  if (title !== undefined) return <strong className={marks!.length < 3 ? "text-[15px]" : ""}>{inline(title.trim(), safeUrl)}</strong>;
  const [, space, number, item] = ITEM.exec(text) ?? [];
  if (item === undefined) return inline(text, safeUrl);
  return (
    <span className="flex gap-1.5" style={{ paddingInlineStart: space!.length * INDENT_PX }}>
      <span className="shrink-0 text-muted">{number ?? "•"}</span>
      <span className="min-w-0">{inline(item.trim(), safeUrl)}</span>
    </span>
  );
};

/** @param safeUrl returns the address of a link, or undefined for a link that is shown as text */
export const Markdown = ({ text, safeUrl }: { text: string; safeUrl: SafeUrl }) =>
  text.split("\n").map((one, index) => (
    <span key={index} className="block min-h-5">
      {line(one, safeUrl)}
    </span>
  ));
