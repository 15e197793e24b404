import { fork } from "node:child_process";
import { join } from "node:path";

/** Questions to a child process and its answers, as JSON. */
export interface Child<Q, A> {
  ask(question: Q): Promise<A>;
  stop(): Promise<void>;
}

type Message<A> = { answer: A } | { failure: string };

/** Starts a program of this folder as a process that ends with this one. */
export const startChild = <Q extends object, A>(program: string): Child<Q, A> => {
  const child = fork(join(__dirname, `${program}.js`), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const exit = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    ask: (question) =>
      new Promise((resolve, reject) => {
        const onExit = (): void => reject(new Error(`${program} ended unexpectedly`));
        child.once("exit", onExit);
        child.once("message", (message: Message<A>) => {
          child.off("exit", onExit);
          if ("failure" in message) reject(new Error(`${program}: ${message.failure}`));
          else resolve(message.answer);
        });
        child.send(question);
      }),
    stop: async () => {
      if (child.connected) child.disconnect();
      await exit;
    },
  };
};

/** Child side: answers questions one by one until the parent process ends, and then calls `stop`. */
export const answerParent = <Q, A>(answer: (question: Q) => Promise<A>, stop: () => Promise<void>): void => {
  process.on("message", (question: Q) => {
    answer(question).then(
      (reply) => process.send?.({ answer: reply } satisfies Message<A>),
      (error: unknown) => process.send?.({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  });
  // Ctrl-C reaches the whole process group, but the parent decides when this process ends.
  process.on("SIGINT", () => undefined);
  process.once("disconnect", () => {
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
};
