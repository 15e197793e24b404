import { companyOf, isRetired } from "../src/published";

const hosted = { sandbox: false, runsAt: "provider" as const, provider: { baseUrl: "https://api.lumen.example/v1" } };

it.each([
  ["what the entry says", { ...hosted, company: "lumen" }, "lumen"],
  ["the host that is called", hosted, "api.lumen.example"],
  ["the machine itself", { ...hosted, runsAt: "local" as const }, "local"],
  ["the sandbox", { ...hosted, sandbox: true }, "sandbox"],
  ["unknown without an address", { ...hosted, provider: { baseUrl: "" } }, "unknown"],
])("a model's company is %s", (_what, entry, company) => {
  expect(companyOf(entry)).toBe(company);
});

it("is retired from the day on which its provider shuts it down", () => {
  const noon = (day: string): number => Date.parse(`${day}T12:00:00Z`);
  expect([isRetired({ retiresOn: "2027-01-14" }, noon("2027-01-13")), isRetired({ retiresOn: "2027-01-14" }, noon("2027-01-14"))]).toEqual([
    false,
    true,
  ]);
  expect(isRetired({}, noon("2099-01-01"))).toBe(false);
});
