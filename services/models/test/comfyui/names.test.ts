import { importWorkflow, inspectWorkflow } from "../../src/servers/comfyui/import";

/** Names of inherited members of JavaScript objects, each a valid JSON member. */
const NAMES = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];

const member = (name: string, value: unknown): string => `{${JSON.stringify(name)}:${JSON.stringify(value)}}`;

describe.each(NAMES)("a workflow of ComfyUI with the name %s", (name) => {
  const workflow = (id: string, classType: string): string =>
    `{${JSON.stringify(id)}:{"class_type":${JSON.stringify(classType)},"_meta":{"title":"Words"},"inputs":${member(name, "a loom")}},"9":{"class_type":"SaveImage","inputs":{}}}`;

  it.each([
    ["says nothing of it", { X: { input: { required: {} } } }],
    ["says what it is", { X: { input: { required: JSON.parse(member(name, ["STRING", {}])) as unknown } } }],
    ["says nothing at all", undefined],
  ])("has it as an input, if the server %s", async (_case, info) => {
    const { found } = await inspectWorkflow(workflow("1", "X"), () => Promise.resolve(info));
    expect(found).toMatchObject([{ node: "1", input: name, value: "a loom", schema: { type: "string", default: "a loom" } }]);
  });

  it("has it as a node and as a class", async () => {
    const paths: string[] = [];
    const { found } = await inspectWorkflow(workflow(name, name), async (path) => {
      paths.push(path);
      return undefined;
    });
    expect(found).toMatchObject([{ node: name, classType: name, input: name }]);
    expect(paths).toContain(`/object_info/${name}`);
  });

  it("becomes a model, or is rejected by the input's name", async () => {
    const newWorkflow = {
      name: "Mine",
      workflow: workflow("1", "X"),
      modality: "",
      keepMetadata: false,
      inputs: [{ name, node: "1", input: name }],
    };
    const importing = importWorkflow(newWorkflow, () => Promise.resolve(undefined));
    if (name === "__proto__") await expect(importing).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
    else expect(Object.keys(JSON.parse((await importing).inputs) as object)).toEqual([name]);
  });
});
