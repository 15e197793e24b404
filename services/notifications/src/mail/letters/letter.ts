/**
 * Texts of emails, from which both HTML and plain text are built. All content is plain text and is escaped only in this module. Emails load
 * nothing from other servers.
 */

export interface Letter {
  subject: string;
  paragraphs: readonly string[];
  action?: { label: string; url: string };
  /** Small print below the action. */
  notes: readonly string[];
  /** Page that turns off this kind of email. */
  unsubscribe?: { label: string; url: string };
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escape = (text: string): string => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign]!);

/** Matches line breaks, and characters that change the direction of the following text. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/gu;
const WORD_JOINER = "\u2060";

/**
 * Returns a name from another user as one line. It can't form a header, change the direction of text, or become a link in an email program.
 */
export const nameIn = (name: string, maxChars: number): string => {
  const characters = Array.from(name.replace(UNSEEN, " ").replace(/\s+/g, " ").trim());
  const shownText = characters.length > maxChars ? `${characters.slice(0, maxChars - 1).join("")}…` : characters.join("");
  return shownText.replace(/[.:/@](?=\S)/g, (sign) => sign + WORD_JOINER);
};

const STYLE = [
  ":root{color-scheme:light dark}",
  "body{margin:0;padding:24px;background:#fff;color:#1c1b22;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}",
  "main{max-width:34em;margin:0 auto}",
  "h1{font-size:20px;line-height:1.3}",
  ".action{display:inline-block;padding:10px 18px;border-radius:6px;background:#4338ca;color:#fff;text-decoration:none;font-weight:600}",
  ".less{color:#57535f;font-size:14px;overflow-wrap:anywhere}",
  ".less a{color:inherit}",
  "@media (prefers-color-scheme:dark){body{background:#17161c;color:#eceaf2}.less{color:#aaa6b5}}",
].join("");

const link = (url: string, label: string): string => `<a href="${escape(url)}">${escape(label)}</a>`;

export const letterHtml = ({ subject, paragraphs, action, notes, unsubscribe }: Letter): string =>
  [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">`,
    `<meta name="color-scheme" content="light dark"><title>${escape(subject)}</title><style>${STYLE}</style></head>`,
    `<body><main><h1>${escape(subject)}</h1>`,
    ...paragraphs.map((paragraph) => `<p>${escape(paragraph)}</p>`),
    ...(action
      ? [
          `<p><a class="action" href="${escape(action.url)}">${escape(action.label)}</a></p>`,
          `<p class="less">If the button doesn't work, open this address: ${link(action.url, action.url)}</p>`,
        ]
      : []),
    ...notes.map((note) => `<p class="less">${escape(note)}</p>`),
    ...(unsubscribe ? [`<p class="less">${link(unsubscribe.url, unsubscribe.label)}</p>`] : []),
    `</main></body></html>`,
  ].join("\n");

export const letterText = ({ paragraphs, action, notes, unsubscribe }: Letter): string =>
  [
    ...paragraphs,
    ...(action ? [`${action.label}:\n${action.url}`] : []),
    ...notes,
    ...(unsubscribe ? [`${unsubscribe.label}:\n${unsubscribe.url}`] : []),
    "",
  ].join("\n\n");
