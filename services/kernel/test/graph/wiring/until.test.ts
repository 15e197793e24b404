import { upToNode } from "@nodeloom/kernel";
import { graphOf, OUT, type Edge, type Node } from "../../support";

const NODES: Node[] = [
  { id: "words", type: "text-box" },
  { id: "chat", type: "llm-assistant" },
  { id: "pic", type: "generate-image" },
  { id: "clip", type: "generate-video" },
  { id: "remark", type: "note" },
  { id: "aside", type: "from-tomorrow" },
  OUT,
];
const EDGES: Edge[] = [
  ["words.text", "chat.prompt"],
  ["chat.text", "pic.prompt"],
  ["chat.text", "clip.prompt"],
  ["pic.image", "out.images"],
  ["clip.video", "out.videos"],
  ["nowhere.text", "aside.x"],
];
const idsUpTo = (id: string, edges = EDGES): string[] | undefined => upToNode(graphOf(NODES, edges), id)?.nodes.map((node) => node.id);

describe("the part of a graph that a node needs", () => {
  it("is the node with all nodes upstream of it, without parallel and later nodes", () => {
    expect(idsUpTo("pic")).toEqual(["words", "chat", "pic"]);
    expect(idsUpTo("words")).toEqual(["words"]);
    expect(idsUpTo("out")).toEqual(["words", "chat", "pic", "clip", "out"]);
    expect(upToNode(graphOf(NODES, EDGES), "pic")?.edges.map(({ id }) => id)).toEqual(["e0", "e1"]);
  });

  it("ends on cycles, and keeps them so that they are rejected", () => {
    expect(idsUpTo("chat", [...EDGES, ["chat.text", "words.x"]])).toEqual(["words", "chat"]);
  });

  it("keeps only the problems of its own nodes and edges", () => {
    const graph = graphOf([...NODES, { id: "pic", type: "note" }, { id: "clip", type: "note" }], EDGES);
    expect(upToNode(graph, "pic")?.issues.map(({ nodeId }) => nodeId)).toEqual(["pic"]);
    expect(upToNode(graph, "aside")?.edges).toHaveLength(1);
  });

  it("is undefined for nodes that don't exist or never run", () => {
    expect(idsUpTo("nowhere")).toBeUndefined();
    expect(idsUpTo("remark")).toBeUndefined();
  });
});
