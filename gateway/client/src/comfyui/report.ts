/** Texts of an import: a sentence to show, and a report that stays on the workflow. */

const SHOWN = 6;

/** "KSampler, 2 × LoraLoader and 3 more". */
export const listed = (names: readonly string[]): string => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const words = [...counts].map(([name, count]) => (count > 1 ? `${count} × ${name}` : name));
  return words.length > SHOWN ? `${words.slice(0, SHOWN).join(", ")} and ${words.length - SHOWN} more` : words.join(", ");
};

const MOST_QUOTED = 200;
export const quoted = (text: string): string => {
  const line = text.replace(/\s+/g, " ").trim();
  return `“${line.length > MOST_QUOTED ? `${line.slice(0, MOST_QUOTED)}…` : line}”`;
};

/** Collects lines without duplicates. */
export class Report {
  private readonly lines = new Set<string>();

  add(line: string): void {
    this.lines.add(line);
  }

  text(head: string): string {
    return [head, ...[...this.lines].map((line) => `• ${line}`)].join("\n");
  }
}
