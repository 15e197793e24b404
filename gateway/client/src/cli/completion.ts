import type { Command } from "commander";
import { leavesOf, type Commands } from "./command";
import { Refusal } from "./outcome";

/** `nodeloom completion`: scripts for shells, made from the table of commands. */

interface Place {
  /** Words before, such as `workflows`; empty at the beginning. */
  name: string;
  command: Command;
}

/** The program, its groups and its commands. */
const placesOf = (program: Command): Place[] => [
  { name: "", command: program },
  ...program.commands.filter(({ commands }) => commands.length > 0).map((command) => ({ name: command.name(), command })),
  ...leavesOf(program),
];

const optionsOf = ({ options }: Command): string[] => options.flatMap(({ long }) => (long ? [long] : []));

const bash = (program: Command): string => {
  const places = placesOf(program);
  const groups = places.flatMap(({ name, command }) => command.commands.map((one) => `"${name} ${one.name()}"`));
  const cases = places.map(
    ({ name, command }) => `    "${name}") words="${[...command.commands.map((one) => one.name()), ...optionsOf(command)].join(" ")}" ;;`,
  );
  return `_nodeloom() {
  local current="\${COMP_WORDS[COMP_CWORD]}" place="" words="" word
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "$place $word" in
      ${groups.join("|")}) place="\${place:+$place }$word" ;;
    esac
  done
  case "$place" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ "\${#COMPREPLY[@]}" -eq 0 ]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -F _nodeloom nodeloom
`;
};

const zsh = (program: Command): string => `autoload -U +X bashcompinit && bashcompinit\n${bash(program)}`;

const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

/** A condition that holds after the words of a place. */
const after = (name: string): string =>
  name === ""
    ? "__fish_use_subcommand"
    : name
        .split(" ")
        .map((word) => `__fish_seen_subcommand_from ${word}`)
        .join("; and ");

const fish = (program: Command): string => {
  const lines = placesOf(program).flatMap(({ name, command }) => {
    const subcommands = command.commands.map((one) => one.name()).join(" ");
    const isOpen = name === "" ? after(name) : `${after(name)}; and not __fish_seen_subcommand_from ${subcommands}`;
    return [
      ...command.commands.map((one) => `complete -c nodeloom -f -n ${quoted(isOpen)} -a ${one.name()} -d ${quoted(one.description())}`),
      ...command.options.flatMap(({ long, short, description, required }) =>
        long === undefined
          ? []
          : [
              `complete -c nodeloom -n ${quoted(after(name))} -l ${long.slice(2)}${short ? ` -s ${short.slice(1)}` : ""}${required ? " -r" : ""} -d ${quoted(description)}`,
            ],
      ),
    ];
  });
  return `${lines.join("\n")}\n`;
};

const SHELLS: Readonly<Record<string, (program: Command) => string>> = { bash, zsh, fish };

export const addCompletionCommand = ({ program, perform }: Commands): void => {
  program
    .command("completion")
    .argument("<shell>", Object.keys(SHELLS).join(", "))
    .description("prints a script with which your shell completes commands and options")
    .action((shell: string) =>
      perform((terminal) => {
        const script = SHELLS[shell];
        if (!script) return Promise.reject(new Refusal(`there is no completion for ${shell}: name ${Object.keys(SHELLS).join(", ")}`));
        terminal.text(script(program));
        return Promise.resolve();
      }),
    );
};
