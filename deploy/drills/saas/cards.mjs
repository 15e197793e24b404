/** The workflow that the company sells, with its tests. @param {string} name @param {string} style style of the cards; the tests expect one */
export const cards = (name, style) => ({
  name,
  nodes: [
    {
      id: "in",
      type: "request-input",
      position: { x: 0, y: 0 },
      data: {
        fields: [
          { name: "name", type: "text", required: true },
          { name: "occasion", type: "text", required: true },
        ],
      },
    },
    { id: "words", type: "text-box", position: { x: 260, y: 0 }, data: { text: `A ${style} card for {{name}}: {{occasion}}` } },
    { id: "card", type: "generate-image", position: { x: 520, y: 0 }, data: { model: "sandbox-image" } },
    { id: "out", type: "response-output", position: { x: 780, y: 0 }, data: {} },
  ],
  edges: [
    { id: "e1", source: "in", sourceHandle: "name", target: "words", targetHandle: "name" },
    { id: "e2", source: "in", sourceHandle: "occasion", target: "words", targetHandle: "occasion" },
    { id: "e3", source: "words", sourceHandle: "text", target: "card", targetHandle: "prompt" },
    { id: "e4", source: "card", sourceHandle: "image", target: "out", targetHandle: "card" },
    { id: "e5", source: "words", sourceHandle: "text", target: "out", targetHandle: "words" },
  ],
  tests: [
    {
      name: "birthday",
      inputs: { name: "Ada", occasion: "birthday" },
      expect: [
        { path: "words", matches: "^A (woodcut|linocut) card for Ada" },
        { path: "card", file: { kind: "image" } },
      ],
      maxCredits: 5,
    },
  ],
});
