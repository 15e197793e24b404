import { NodeloomError } from "@nodeloom/client";

(globalThis as { location?: unknown }).location = { origin: "http://localhost" };

const load = async () => import("../../src/runs/trouble/trouble");

describe("texts of errors", () => {
  it("names node, item and cause, and links to the node", async () => {
    const { runTrouble } = await load();
    const error = { code: "EXECUTION_FAILED", message: 'node "Stills" (stills): the picture was refused' };
    const namedNode = { id: "stills", label: "Stills", title: "Stills" };
    const node = { ...namedNode, items: 3, failed: [{ item: 1, message: "the picture was refused" }] };
    const trouble = runTrouble(error, node);
    expect(trouble).toMatchObject({ title: "“Stills” failed for item 2 of 3", cause: "the picture was refused" });
    expect(trouble.remedies).toContain("open-node");
    const prefixed = { ...namedNode, items: 2, failed: [0, 1].map((item) => ({ item, message: error.message })) };
    expect(runTrouble(error, prefixed)).toMatchObject({ title: "“Stills” failed for all 2 items", cause: "the picture was refused" });
  });

  it("leaves out the name of the node that the page shows, and no other words", async () => {
    const { causeAt, causeOf } = await import("../../src/runs/trouble/cause");
    const [plain, labelled] = [{ id: "pic" }, { id: "b", label: "A: (b): c" }];
    expect(causeAt("node pic: it broke: node x", plain)).toBe("it broke: node x");
    expect(causeAt('node "A: (b): c" (b): it broke', labelled)).toBe("it broke");
    expect(causeAt("node pic: it broke", labelled)).toBe("node pic: it broke");
    const error = { code: "EXECUTION_FAILED", message: "node pic: it broke", nodeId: "pic" };
    expect(causeOf({ error, nodes: [labelled, plain] })).toBe("it broke");
    expect(causeOf({ error, nodes: [] })).toBe(error.message);
    expect(causeOf({ error: null, nodes: [plain] })).toBeUndefined();
  });

  it("offers to raise the limit if credits stop a run or its own limit refuses it", async () => {
    const { refusalTrouble, runTrouble } = await load();
    const code = "INSUFFICIENT_CREDITS";
    expect(runTrouble({ code, message: "any words" })).toMatchObject({ title: "Not enough credits", cause: "any words" });
    expect(runTrouble({ code, message: "any words" }).remedies).toContain("raise-limit");
    const refusal = (details: Record<string, unknown>) =>
      refusalTrouble(new NodeloomError({ status: 402, code, message: "any words", details }));
    expect(refusal({ requiredCredits: 20, maxCredits: 10 }).remedies).toEqual(["raise-limit"]);
    expect(refusal({ requiredCredits: 20, availableCredits: 10 }).remedies).not.toContain("raise-limit");
  });

  it("decides by codes, never by the words of a message", async () => {
    const { runTrouble } = await load();
    const advice = (message: string) => runTrouble({ code: "EXECUTION_FAILED", message }).advice;
    for (const words of ["maxCredits", "maxItems", "it needs a key", "content policy", "timed out"]) expect(advice(words)).toBeUndefined();
  });

  it("shows which part of a run that moderation rejected is charged", async () => {
    const { refusalTrouble, runTrouble } = await load();
    const message = "its output was refused: Blood is not shown here. (violence)";
    const words = expect.stringMatching(/are free; finished model calls are charged/) as string;
    expect(runTrouble({ code: "CONTENT_REFUSED", message })).toMatchObject({ cause: message, advice: words });
    const error = new NodeloomError({ status: 422, code: "CONTENT_REFUSED", message: "the input of the run was refused", details: {} });
    expect(refusalTrouble(error)).toMatchObject({ title: "Rejected by the content rules of this installation", advice: words });
  });

  it("shows the required and the available credits", async () => {
    const { refusalTrouble } = await load();
    const error = new NodeloomError({
      status: 402,
      code: "INSUFFICIENT_CREDITS",
      message: "the credits do not suffice",
      details: { requiredCredits: 120, availableCredits: 80 },
    });
    expect(refusalTrouble(error)).toMatchObject({ title: "Not enough credits", cause: "It can cost 120 credits, and you have 80." });
    expect(refusalTrouble(error).remedies).toContain("see-plans");
  });

  it("shows the service's message for codes without a text", async () => {
    const { refusalTrouble, runTrouble } = await load();
    expect(refusalTrouble(new Error("The workflow is not saved yet."))).toMatchObject({
      title: "The run didn't start",
      cause: "The workflow is not saved yet.",
    });
    expect(runTrouble({ code: "NEW_CODE", message: "something new" })).toMatchObject({ title: "The run failed", cause: "something new" });
  });
});
