/** What the kernel says of a graph, as people who build on the canvas need it; anything else in the kernel's own words. */
const WORDS: readonly (readonly [RegExp, (found: RegExpExecArray) => string])[] = [
  [/^prompt: is required$/, () => "It needs a prompt: write it on the node, or link a text to it."],
  [/^(\S+): is required$/, ([, name]) => `It needs “${name}”: set it beside the canvas, or link something to it.`],
  [/^needs a model$/, () => "It needs a model: choose one beside the canvas."],
  [/^needs a mediaId$/, () => "It needs a file: choose or upload one, or drop it on the canvas."],
  [/^needs a url$/, () => "It needs an address: write it on the node."],
  [/^needs a value$/, () => "It needs a value: link something to it."],
  [
    /^there is no enabled model (\S+)((?:\s.*)?)$/,
    ([, name, rest]) => `The model ${name} is not there, or was switched off${rest}. Choose another one.`,
  ],
  [/^(?:\S+: )?there is no media file \S+ of yours$/, () => "Its file is gone, or belongs to somebody else: choose another one."],
  [
    /^the run gives no result: the workflow has no response-output$/,
    () => "Calls of this workflow get nothing back: it has no Results node. On the canvas every node shows what it made anyway.",
  ],
  [/^the run gives no result: nothing flows into this node$/, () => "Nothing is linked to it, so calls of this workflow get nothing back."],
  [
    /^\{\{(.+)\}\} is not connected and becomes empty text$/,
    ([, name]) => `Nothing is linked to “${name}”: its place in the text stays empty.`,
  ],
  [
    /^\S+ has no input (\S+) \(edge .*\); it has (.+)$/,
    ([, name, others]) => `Its model takes no “${name}” (it takes ${others}): choose another model, or remove the link.`,
  ],
  [/^is part of a cycle$/, () => "It is part of a circle: a run could never end. Remove one of the links."],
];

export const issueWords = (message: string): string => {
  for (const [pattern, say] of WORDS) {
    const found = pattern.exec(message);
    if (found) return say(found);
  }
  return message;
};
