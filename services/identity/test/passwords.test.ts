import { passwordProblem } from "../src/users/password-rules";
import { createPasswords } from "../src/users/passwords";

describe("passwords", () => {
  it("are hashed with argon2id under server parameters and a salt", async () => {
    const passwords = await createPasswords();
    const [first, second] = await Promise.all([passwords.hash("correct horse"), passwords.hash("correct horse")]);
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(first).not.toBe(second);
    await expect(passwords.verify(first, "correct horse")).resolves.toBe(true);
    await expect(passwords.verify(first, "correct horsf")).resolves.toBe(false);
  });

  it("match in any Unicode form", async () => {
    const passwords = await createPasswords();
    await expect(passwords.verify(await passwords.hash("cr\u00e8me brulee"), "cre\u0300me brulee")).resolves.toBe(true);
  });

  it.each([
    ["", "at least 10"],
    ["k7#vQ2m!x", "at least 10"],
    ["k7#vQ2¾!x", "at least 10"],
    ["k7#vQ2m!xp", undefined],
    ["\u{1F511}".repeat(5) + "ab3d", "at least 10"],
    ["correct horse battery staple", undefined],
    ["ab3".repeat(66) + "xy", undefined],
    ["ab3".repeat(67), "at most 200"],
    ["y".repeat(100_000), "at most 200"],
    ["password123", "too common"],
    ["PassWord123", "too common"],
    ["1234567890", "too common"],
    ["aaaaaaaaaaaa", "too common"],
    ["abcdefghijkl", "too common"],
    ["ada.lovelace@example.com", "must not be the e-mail address"],
    [" Ada.Lovelace@Example.COM", "must not be the e-mail address"],
  ])("that are new are checked: %#", (password, problem) => {
    const problemFound = passwordProblem(password, "ada.lovelace@example.com");
    if (problem === undefined) expect(problemFound).toBeUndefined();
    else expect(problemFound).toContain(problem);
  });

  it.each(["x".repeat(200), "🧵".repeat(200), "p\u0301ssword \u00e9"])("that are allowed match: %#", async (password) => {
    const passwords = await createPasswords();
    await expect(passwords.verify(await passwords.hash(password), password)).resolves.toBe(true);
  });

  it("never match an unknown account, and take equally long", async () => {
    const passwords = await createPasswords();
    const stored = await passwords.hash("correct horse");
    const time = async (hash: string | undefined): Promise<number> => {
      const startedAt = performance.now();
      expect(await passwords.verify(hash, "wrong horse")).toBe(false);
      return performance.now() - startedAt;
    };
    // Compares minimums, because load on the machine only makes rounds slower.
    let [knownTime, unknown] = [Infinity, Infinity];
    for (let round = 0; round < 8; round += 1) {
      knownTime = Math.min(knownTime, await time(stored));
      unknown = Math.min(unknown, await time(undefined));
    }
    expect(unknown).toBeGreaterThan(knownTime / 4);
    await expect(passwords.verify(stored, "")).resolves.toBe(false);
  });

  it("are rejected if too many are being checked", async () => {
    const passwords = await createPasswords();
    const results = await Promise.allSettled(Array.from({ length: 80 }, () => passwords.verify(undefined, "correct horse")));
    const rejections = results.filter((result) => result.status === "rejected");
    expect(rejections).toHaveLength(16);
    expect(rejections[0]).toMatchObject({ reason: { reason: "SERVICE_UNAVAILABLE" } });
  });
});
