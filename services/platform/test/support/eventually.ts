const DEADLINE_MS = 120_000;
/** Often enough, and less often than any limit of requests in these tests. */
const EVERY_MS = 50;

/**
 * Asks until the answer is what is waited for, and gives it. The deadline fails the test.
 * @param isSo by default whether the answer is true
 */
export const eventually = async <T>(
  ask: () => T | Promise<T>,
  isSo: (answer: T) => boolean = (answer) => answer === true,
  deadlineMs = DEADLINE_MS,
): Promise<T> => {
  const end = Date.now() + deadlineMs;
  for (;;) {
    const answer = await ask();
    if (isSo(answer)) return answer;
    if (Date.now() > end) throw new Error(`not within ${deadlineMs} ms; last: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
};
