export const DECLARED_FORM = {
  choose: "Choose…",
  noInputs: "This workflow has no inputs.",
  ofFile: (index: number, problem: string) => `File ${index}: ${problem}`,
};
