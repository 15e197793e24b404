import * as ts from "typescript";

/** A literal text for people in a source file. */
export interface Literal {
  line: number;
  text: string;
  node: ts.JsxText | ts.StringLiteralLike | ts.TemplateExpression;
}

const names = (list: string): ReadonlySet<string> => new Set(list.split(" "));

/** Attributes and properties that people read, whatever their value. */
const READ = names(
  "title label placeholder alt hint text aria-label aria-description lead action legend description help tip caption heading empty message summary advice",
);
/** Attributes and properties for browsers and programs. */
const UNREAD = names(
  "className class style id key name type d viewBox preserveAspectRatio to href src rel accept autoComplete fill stroke transform mode role method queryKey reads colours code sizes allow aria-live aria-current",
);
/** Functions whose texts people read, and functions whose texts they never see. */
const SAYS = names("say complain confirm alert useTitle setError");
const SILENT = names(
  "classes querySelector querySelectorAll closest matchMedia request useChange fetch open addEventListener matches getItem setItem DateTimeFormat NumberFormat",
);

/** Errors: a sentence with a capital letter is shown to people, other messages are for programmers. */
const ERRORS = names("Error TypeError RangeError");
const IS_SENTENCE = /^["“]?(?:\p{Lu}|…)/u;

/** Names of keys in browser events and shortcuts. */
const KEYS = new Set(["Alt", "Backspace", "Control", "Delete", "Enter", "Escape", "Meta", "Mod", "Shift", "Space"]);

const LETTER = /\p{L}/u;
const CLASS_LIKE = /^[a-z0-9!@&*_.,:%#()[\]/>+=<'"-]+$/;

/** Styles and identifiers: lower-case tokens, one of them with a symbol. */
const isClasses = (text: string): boolean => {
  const tokens = text.trim().split(/\s+/);
  return tokens.every((token) => CLASS_LIKE.test(token)) && tokens.some((token) => /[-[:]|[a-z]\d/.test(token));
};
const looksRead = (text: string): boolean =>
  /\p{L}{2}/u.test(text) &&
  (/^["“]?\p{Lu}\p{Ll}+(?:$|[\s,.:;…!?’'-])/u.test(text.trim()) ||
    (/\p{L}+[,.:;]?\s+\p{L}+/u.test(text) && !isClasses(text)) ||
    /^\p{L}{2,}… |\p{L}…$|\p{L}{2,} …|… \p{L}{2,}/u.test(text));

const nameOf = (node: ts.Node): string | undefined => {
  if (ts.isJsxAttribute(node)) return node.name.getText();
  // Ports and fields can also be called "text".
  if (ts.isPropertyAssignment(node))
    return node.name
      .getText()
      .replaceAll(/["']/g, "")
      .replace(/^text$/, "content");
  return undefined;
};

type Verdict = "read" | "unread" | "by-looks" | "error";

/** Judges a literal by its context. */
const verdictOf = (literal: ts.Node): Verdict => {
  for (let [node, child] = [literal.parent, literal]; node; [node, child] = [node.parent, node]) {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isLiteralTypeNode(node) || ts.isCaseClause(node))
      return "unread";
    if (ts.isPropertyAssignment(node) && node.name === child) return "unread";
    if (ts.isElementAccessExpression(node) && node.argumentExpression === child) return "unread";
    if (ts.isBinaryExpression(node) && /^[!=]==?$|^[<>]=?$|^in$/.test(node.operatorToken.getText())) return "unread";
    const name = nameOf(node);
    if (name !== undefined) return READ.has(name) ? "read" : UNREAD.has(name) || name.startsWith("data-") ? "unread" : "by-looks";
    if (ts.isConditionalExpression(node) && node.condition === child) return "by-looks";
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      const callee = node.expression.getText().split(".").at(-1)!;
      if (SAYS.has(callee)) return "read";
      if (ERRORS.has(callee)) return "error";
      return SILENT.has(callee) ? "unread" : "by-looks";
    }
    if (ts.isJsxExpression(node) && (ts.isJsxElement(node.parent) || ts.isJsxFragment(node.parent))) return "read";
    if (ts.isFunctionLike(node) || ts.isStatement(node)) return "by-looks";
  }
  return "by-looks";
};

/** A program's text within a sentence. */
const isCode = ({ parent }: ts.JsxText): boolean => ts.isJsxElement(parent) && parent.openingElement.tagName.getText() === "code";

const textOf = (node: ts.Node): string | undefined => {
  if (ts.isJsxText(node)) return isCode(node) ? undefined : node.text.trim();
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return [node.head, ...node.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join("…");
  return undefined;
};

export const literalsOf = (file: ts.SourceFile): readonly Literal[] => {
  const literals: Literal[] = [];
  const visit = (node: ts.Node): void => {
    const text = textOf(node);
    if (text !== undefined && LETTER.test(ts.isTemplateExpression(node) ? text.replaceAll("…", "") : text)) {
      const verdict = ts.isJsxText(node) ? "read" : verdictOf(node);
      const isRead =
        verdict === "error"
          ? IS_SENTENCE.test(text)
          : verdict === "read"
            ? !isClasses(text) || /^\p{Lu}/u.test(text)
            : verdict === "by-looks" && looksRead(text) && !KEYS.has(text);
      if (isRead)
        literals.push({ line: file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1, text, node: node as Literal["node"] });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return literals;
};

export const parse = (path: string, text: string): ts.SourceFile =>
  ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, path.endsWith(".tsx") ? ts.ScriptKind.TSX : ts.ScriptKind.TS);
