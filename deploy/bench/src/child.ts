import { fork } from "node:child_process";
import { join } from "node:path";

/** A question to a child process, and what it answers. Everything is JSON. */
export interface Child<Q, A> {
  ask(question: Q): Promise<A>;
  stop(): Promise<void>;
}

type Message<A> = { answer: A } | { failure: string };

/** Starts one of the programs beside this file, or in a folder there, as a process of its own. It ends when this one does. */
export const startChild = <Q extends object, A>(program: string): Child<Q, A> => {
  const child = fork(join(__dirname, `${program}.js`), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
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
      await ended;
    },
  };
};

/** The child's side: answers questions one by one until the parent is gone, then runs `stop`. */
export const answerParent = <Q, A>(answer: (question: Q) => Promise<A>, stop: () => Promise<void>): void => {
  process.on("message", (question: Q) => {
    answer(question).then(
      (given) => process.send?.({ answer: given } satisfies Message<A>),
      (error: unknown) => process.send?.({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  });
  // A Ctrl-C reaches the whole group; the parent decides when this process is not needed any more.
  process.on("SIGINT", () => undefined);
  process.once("disconnect", () => {
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
};
