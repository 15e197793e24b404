const DEADLINE_MS = 120_000;
const FIRST_PAUSE_MS = 50;
/** At this growth, a minute has fewer than 80 attempts; the lowest request limit is 100. */
const GROWTH = 1.15;
const LONGEST_PAUSE_MS = 1_000;

/**
 * Polls until the answer is the expected one, and returns it. Pauses grow with each attempt. Fails at the deadline.
 * @param isSo returns true for the expected answer; by default, if the answer is truthy
 */
export const eventually = async <T>(
  ask: () => T | Promise<T>,
  isSo: (answer: T) => boolean = (answer) => answer === true,
  deadlineMs = DEADLINE_MS,
): Promise<T> => {
  const end = Date.now() + deadlineMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * GROWTH)) {
    const answer = await ask();
    if (isSo(answer)) return answer;
    if (Date.now() > end) throw new Error(`not within ${deadlineMs} ms; last: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
};

/**
 * Polls until the answer is the expected one, and returns it. Fails if a poll that started after the limit got another answer, so that a
 * busy machine's response time doesn't count.
 */
export const soon = async <T>(ask: () => Promise<T>, isSo: (answer: T) => boolean, withinMs: number): Promise<T> => {
  const since = Date.now();
  let lastOther = since;
  const answer = await eventually(async () => {
    const askedAt = Date.now();
    const lastAnswer = await ask();
    if (!isSo(lastAnswer)) lastOther = askedAt;
    return lastAnswer;
  }, isSo);
  if (lastOther - since > withinMs) throw new Error(`another answer was given still to a question after ${lastOther - since} ms`);
  return answer;
};
