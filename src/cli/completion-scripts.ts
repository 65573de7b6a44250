// Completion for bash and zsh: the scripts hold every word themselves, so that a key press starts no Node.
import type { CompletedOption, CompletedVerb, CompletionValues } from "./completion-words.ts";

/** Quotes a text in single quotes, for either shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const joined = (words: readonly string[]): string => quoted(words.join(" "));

/**
 * Writes the completion for bash 3.2 and newer. If no word is offered, bash itself offers files (`-o default`). It also
 * completes the words of `npx spillway`, unless npx has a completion of its own.
 */
export function bashCompletion(verbs: readonly CompletedVerb[]): string {
  const names = verbs.map(({ name }) => name);
  return `# Completion of spillway for bash. Load it: eval "$(npx spillway completion bash)"
_spillway_offer() {
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}
_spillway_no_files() {
  type compopt >/dev/null 2>&1 && compopt +o default
  return 0
}
_spillway_at() {
  local first=$1 cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} verb
  verb=\${COMP_WORDS[first]}
  COMPREPLY=()
  # bash takes --name=value for three words.
  if [ "$cur" = "=" ]; then cur=
  elif [ "$prev" = "=" ]; then prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  if [ "$COMP_CWORD" -eq "$first" ]; then
    _spillway_offer ${joined([...names, "help", "--help", "--version"])}
    return
  fi
  case "$verb" in
    help) _spillway_offer ${joined(names)} ;;
${verbs.map(bashVerb).join("\n")}
  esac
}
_spillway() {
  _spillway_at 1
}
_spillway_npx() {
  if [ "\${COMP_WORDS[1]}" = spillway ] && [ "$COMP_CWORD" -gt 1 ]; then _spillway_at 2; fi
}
complete -o default -F _spillway spillway
complete -p npx >/dev/null 2>&1 || complete -o default -F _spillway_npx npx
`;
}

function bashVerb({ name, options, operands }: CompletedVerb): string {
  const flagsOf = new Map<string, string[]>();
  for (const { flags, argument } of options) {
    if (argument === null) continue;
    const offer = bashValues(argument.values);
    flagsOf.set(offer, [...(flagsOf.get(offer) ?? []), ...flags]);
  }
  const cases = [...flagsOf].map(([offer, flags]) => `        ${flags.join("|")}) ${offer}; return ;;`);
  const all = options.flatMap(({ flags }) => flags);
  const [operand] = operands;
  return [
    `    ${name})`,
    '      case "$prev" in',
    ...cases,
    "      esac",
    '      case "$cur" in',
    `        -*) _spillway_offer ${joined(all)} ;;`,
    `        *) ${operand === undefined ? "_spillway_no_files" : bashValues(operand.values)} ;;`,
    "      esac ;;",
  ].join("\n");
}

function bashValues({ words, paths }: CompletionValues): string {
  const offer = words.length === 0 ? ":" : `_spillway_offer ${joined(words)}`;
  if (paths !== "none") return offer;
  return words.length === 0 ? "_spillway_no_files" : `_spillway_no_files; ${offer}`;
}

/** Writes the completion for zsh: evaluated after \`compinit\`, or put as \`_spillway\` into a folder of \`fpath\`. */
export function zshCompletion(verbs: readonly CompletedVerb[]): string {
  const described = verbs.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`);
  return `#compdef spillway
# Completion of spillway for zsh. Load it: eval "$(npx spillway completion zsh)"
_spillway_names_or_files() {
  _alternative "names:name:($*)" 'files:file:_files'
}
_spillway_verbs() {
  local -a verbs
  verbs=(
${described.join("\n")}
    'help:print the help of a verb'
  )
  _describe -t verbs verb verbs
}
_spillway() {
  if (( CURRENT == 2 )); then
    _spillway_verbs
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
    help) _spillway_verbs ;;
${verbs.map(zshVerb).join("\n")}
  esac
}
_spillway_npx() {
  if (( CURRENT > 2 )) && [[ $words[2] == spillway ]]; then
    shift words
    (( CURRENT-- ))
    _spillway
  else
    _default
  fi
}
if [[ $funcstack[1] == _spillway ]]; then
  _spillway "$@"
else
  compdef _spillway spillway
  (( $+_comps[npx] )) || compdef _spillway_npx npx
fi
`;
}

function zshVerb({ name, options, operands }: CompletedVerb): string {
  const places = operands.map(
    ({ name: operand, many, values }, index) => `${many ? "*" : index + 1}:${operand}:${zshAction(values)}`,
  );
  const specs = [...options.flatMap(zshOption), ...places].map((spec) => `      ${quoted(spec)}`);
  return [`    ${name}) _arguments -S \\`, `${specs.join(" \\\n")} ;;`].join("\n");
}

function zshOption({ flags, describe, isRepeatable, argument }: CompletedOption): string[] {
  const text = describe.replace(/[[\]\\]/g, "\\$&");
  return flags.map((flag) => {
    const head = `${isRepeatable ? "*" : ""}${flag}`;
    if (argument === null) return `${head}[${text}]`;
    const message = argument.name.replace(/[:\\]/g, "\\$&");
    return `${head}${flag.startsWith("--") ? "=" : ""}[${text}]:${message}:${zshAction(argument.values)}`;
  });
}

function zshAction({ words, paths }: CompletionValues): string {
  if (words.length > 0 && paths !== "none") return ` _spillway_names_or_files ${words.join(" ")}`;
  if (words.length > 0) return `(${words.join(" ")})`;
  return { none: " ", files: "_files", folders: "_files -/" }[paths];
}
