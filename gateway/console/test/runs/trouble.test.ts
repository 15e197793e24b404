import { NodeloomError } from "@nodeloom/client";

(globalThis as { location?: unknown }).location = { origin: "http://localhost" };

const load = async () => import("../../src/messages/troubles");

describe("what is said of an error", () => {
  it("names node, item and cause, and leads to the node", async () => {
    const { runTrouble } = await load();
    const error = { code: "EXECUTION_FAILED", message: 'node "Stills" (stills): the picture was refused' };
    const node = { title: "Stills", items: 3, failed: [{ item: 1, message: "the picture was refused" }] };
    const trouble = runTrouble(error, node);
    expect(trouble).toMatchObject({ title: "“Stills” failed at item 2 of 3", cause: "the picture was refused" });
    expect(trouble.remedies).toContain("open-node");
    expect(runTrouble(error).cause).toBe("the picture was refused");
    const prefixed = { title: "Stills", items: 2, failed: [0, 1].map((item) => ({ item, message: error.message })) };
    expect(runTrouble(error, prefixed)).toMatchObject({ title: "“Stills” failed at all 2 items", cause: "the picture was refused" });
  });

  it("says how to spend more where a limit stopped the run", async () => {
    const { runTrouble } = await load();
    const trouble = runTrouble({ code: "INSUFFICIENT_CREDITS", message: "node chat: maxCredits would be passed" });
    expect(trouble).toMatchObject({ title: "The run reached what it may spend", remedies: ["raise-limit"] });
  });

  it("says of what moderation refused what is free and what is charged, before a run and in it", async () => {
    const { refusalTrouble, runTrouble } = await load();
    const message = "node pic: its output was refused: Blood is not shown here. (violence)";
    const words = expect.stringMatching(/free; what a model had made already is charged/) as string;
    expect(runTrouble({ code: "CONTENT_REFUSED", message })).toMatchObject({ cause: message.replace("node pic: ", ""), advice: words });
    const error = new NodeloomError({ status: 422, code: "CONTENT_REFUSED", message: "the input of the run was refused", details: {} });
    expect(refusalTrouble(error)).toMatchObject({ title: "Refused by the rules of this installation", advice: words });
  });

  it("counts what is missing where credits don't suffice", async () => {
    const { refusalTrouble } = await load();
    const error = new NodeloomError({
      status: 402,
      code: "INSUFFICIENT_CREDITS",
      message: "the credits do not suffice",
      details: { requiredCredits: 120, availableCredits: 80 },
    });
    expect(refusalTrouble(error)).toMatchObject({ title: "Not enough credits", cause: "It may cost 120 credits; you have 80." });
    expect(refusalTrouble(error).remedies).toContain("see-plans");
  });

  it("keeps the service's words where it has none of its own", async () => {
    const { refusalTrouble, runTrouble } = await load();
    expect(refusalTrouble(new Error("The workflow is not saved yet."))).toMatchObject({
      title: "Not run",
      cause: "The workflow is not saved yet.",
    });
    expect(runTrouble({ code: "NEW_CODE", message: "something new" })).toMatchObject({ title: "The run failed", cause: "something new" });
  });
});
