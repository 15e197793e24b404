/** What the kernel says of a graph, as people who build on the canvas need it; anything else in the kernel's own words. */
const WORDS: readonly (readonly [RegExp, (found: RegExpExecArray) => string])[] = [
  [/^prompt: is required$/, () => "It needs a prompt: write it on the node, or link a text to it."],
  [/^(\S+): is required$/, ([, name]) => `It needs “${name}”: set it beside the canvas, or link something to it.`],
  [/^needs a model$/, () => "It needs a model: choose one beside the canvas."],
  [/^needs a mediaId$/, () => "It needs a file: choose or upload one, or drop it on the canvas."],
  [/^needs a value$/, () => "It needs a value: link something to it."],
  [
    /^there is no enabled model (\S+)(.*)$/,
    ([, name, rest]) => `The model ${name} is not there, or was switched off${rest}. Choose another one.`,
  ],
  [/^there is no media file \S+ of yours$/, () => "Its file is gone, or belongs to somebody else: choose another one."],
  [/^is part of a cycle$/, () => "It is part of a circle: a run could never end. Remove one of the links."],
];

export const issueWords = (message: string): string => {
  for (const [pattern, say] of WORDS) {
    const found = pattern.exec(message);
    if (found) return say(found);
  }
  return message;
};
