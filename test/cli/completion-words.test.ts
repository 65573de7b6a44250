// Completion of verbs of the tests' own: the words at each place, and both scripts as wholes.
import { expect, test } from "vitest";
import { bashCompletion, zshCompletion } from "../../src/cli/completion-scripts.ts";
import { completedVerbs } from "../../src/cli/completion-words.ts";
import { defineVerb, option } from "../../src/cli/verb.ts";
import { faultNames } from "../../src/faults/choice.ts";
import { judgedFigureKinds } from "../../src/rules/figures.ts";
import { limiterLawNames } from "../../src/rules/laws.ts";

const examples = { "$0 measure": "measure" };
const handler = () => undefined;
const measure = defineVerb({
  ...{ name: "measure", summary: "measure 'it'", examples, handler },
  operands: [
    { name: "trace", describe: "a trace", required: true },
    { name: "things", describe: "things", required: false, many: true },
  ],
  options: {
    out: option.text("DIR", "write to [DIR]", { alias: ["o", "output"] }),
    unit: { argument: "UNIT", choices: ["m", "mile"], describe: "say it in UNIT" },
    rules: option.text("RULES", "follow RULES", { array: true }),
    from: option.text("FILE:LINE", "read it from there"),
    tokens: option.text("FILE", "call with FILE"),
    pictures: option.flag("draw it", { negatable: true }),
  },
});
const bare = defineVerb({ ...{ name: "bare", summary: "do nothing", examples, handler }, options: {} });
const more = defineVerb({
  ...{ name: "more", summary: "do more", examples, handler },
  operands: [{ name: "dir", describe: "a folder", required: false }],
  options: {
    law: option.text("NAME", "look for NAME"),
    fault: option.text("NAME[=RATE]", "have NAME"),
    until: option.text("BOUND", "go on until BOUND"),
  },
});

const none = { words: [], paths: "none" };
const files = { words: [], paths: "files" };
const folders = { words: [], paths: "folders" };

test("words come from a verb's own data, and from names that arguments take", async () => {
  const [measured, , others] = await completedVerbs([measure, bare, more]);
  expect({ ...measured, options: measured?.options.slice(0, 6) }).toEqual({
    ...{ name: "measure", summary: "measure 'it'" },
    operands: [
      { name: "TRACE", many: false, values: files },
      { name: "THINGS", many: true, values: none },
    ],
    options: [
      {
        ...{ flags: ["--out", "-o", "--output"], describe: "write to [DIR]", isRepeatable: false },
        argument: { name: "DIR", values: folders },
      },
      {
        ...{ flags: ["--unit"], describe: "say it in UNIT", isRepeatable: false },
        argument: { name: "UNIT", values: { words: ["m", "mile"], paths: "none" } },
      },
      {
        ...{ flags: ["--rules"], describe: "follow RULES", isRepeatable: true },
        argument: {
          name: "RULES",
          values: { words: expect.arrayContaining(["documented", "github"]), paths: "files" },
        },
      },
      {
        ...{ flags: ["--from"], describe: "read it from there", isRepeatable: false },
        argument: { name: "FILE:LINE", values: none },
      },
      {
        ...{ flags: ["--tokens"], describe: "call with FILE", isRepeatable: false },
        argument: { name: "FILE", values: files },
      },
      { flags: ["--pictures", "--no-pictures"], describe: "draw it", isRepeatable: false, argument: null },
    ],
  });
  expect(measured?.options.slice(6).map(({ flags }) => flags)).toEqual([
    ["--json"],
    ["--debug"],
    ["--color", "--no-color"],
    ["--help", "-h"],
  ]);
  expect(others?.operands).toEqual([{ name: "DIR", many: false, values: folders }]);
  expect(others?.options.slice(0, 3).map(({ argument }) => argument?.values)).toEqual([
    { words: limiterLawNames, paths: "none" },
    { words: ["list", ...faultNames], paths: "none" },
    { words: expect.arrayContaining(["refusedShare", ...Object.keys(judgedFigureKinds)]), paths: "none" },
  ]);
});

test("both scripts hold every word", async () => {
  const verbs = (await completedVerbs([measure, bare])).map((verb) => ({
    ...verb,
    options: verb.options.slice(0, -4),
  }));
  const known = {
    ...verbs[0],
    name: "known",
    operands: [{ name: "A", many: false, values: { words: ["x", "y z"], paths: "files" } }],
  };
  const only = {
    ...verbs[1],
    name: "only",
    operands: [{ name: "A", many: true, values: { words: ["x", "y"], paths: "none" } }],
  };
  const all = [...verbs, known, only] as typeof verbs;
  expect(bashCompletion(all)).toMatchInlineSnapshot(`
    "# Completion of spillway for bash. Load it: eval "$(npx spillway completion bash)"
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
        _spillway_offer 'measure bare known only help --help --version'
        return
      fi
      case "$verb" in
        help) _spillway_offer 'measure bare known only' ;;
        measure)
          case "$prev" in
            --out|-o|--output|--tokens) :; return ;;
            --unit) _spillway_no_files; _spillway_offer 'm mile'; return ;;
            --rules) _spillway_offer 'default documented anthropic buildkite discord docker-hub envoy-filter envoy-json express-rate-limit express-rate-limit-6 express-rate-limit-7 express-rate-limit-8 fastify github gitlab ietf-06 ietf-07 ietf-11 kong linear nginx okta openai shopify-graphql shopify-rest slack spring-cloud-gateway stripe traefik x'; return ;;
            --from) _spillway_no_files; return ;;
          esac
          case "$cur" in
            -*) _spillway_offer '--out -o --output --unit --rules --from --tokens --pictures --no-pictures' ;;
            *) : ;;
          esac ;;
        bare)
          case "$prev" in
          esac
          case "$cur" in
            -*) _spillway_offer '' ;;
            *) _spillway_no_files ;;
          esac ;;
        known)
          case "$prev" in
            --out|-o|--output|--tokens) :; return ;;
            --unit) _spillway_no_files; _spillway_offer 'm mile'; return ;;
            --rules) _spillway_offer 'default documented anthropic buildkite discord docker-hub envoy-filter envoy-json express-rate-limit express-rate-limit-6 express-rate-limit-7 express-rate-limit-8 fastify github gitlab ietf-06 ietf-07 ietf-11 kong linear nginx okta openai shopify-graphql shopify-rest slack spring-cloud-gateway stripe traefik x'; return ;;
            --from) _spillway_no_files; return ;;
          esac
          case "$cur" in
            -*) _spillway_offer '--out -o --output --unit --rules --from --tokens --pictures --no-pictures' ;;
            *) _spillway_offer 'x y z' ;;
          esac ;;
        only)
          case "$prev" in
          esac
          case "$cur" in
            -*) _spillway_offer '' ;;
            *) _spillway_no_files; _spillway_offer 'x y' ;;
          esac ;;
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
    "
  `);
  expect(zshCompletion(all)).toMatchInlineSnapshot(`
    "#compdef spillway
    # Completion of spillway for zsh. Load it: eval "$(npx spillway completion zsh)"
    _spillway_names_or_files() {
      _alternative "names:name:($*)" 'files:file:_files'
    }
    _spillway_verbs() {
      local -a verbs
      verbs=(
        'measure:measure '\\''it'\\'''
        'bare:do nothing'
        'known:measure '\\''it'\\'''
        'only:do nothing'
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
        measure) _arguments -S \\
          '--out=[write to \\[DIR\\]]:DIR:_files -/' \\
          '-o[write to \\[DIR\\]]:DIR:_files -/' \\
          '--output=[write to \\[DIR\\]]:DIR:_files -/' \\
          '--unit=[say it in UNIT]:UNIT:(m mile)' \\
          '*--rules=[follow RULES]:RULES: _spillway_names_or_files default documented anthropic buildkite discord docker-hub envoy-filter envoy-json express-rate-limit express-rate-limit-6 express-rate-limit-7 express-rate-limit-8 fastify github gitlab ietf-06 ietf-07 ietf-11 kong linear nginx okta openai shopify-graphql shopify-rest slack spring-cloud-gateway stripe traefik x' \\
          '--from=[read it from there]:FILE\\:LINE: ' \\
          '--tokens=[call with FILE]:FILE:_files' \\
          '--pictures[draw it]' \\
          '--no-pictures[draw it]' \\
          '1:TRACE:_files' \\
          '*:THINGS: ' ;;
        bare) _arguments -S \\
     ;;
        known) _arguments -S \\
          '--out=[write to \\[DIR\\]]:DIR:_files -/' \\
          '-o[write to \\[DIR\\]]:DIR:_files -/' \\
          '--output=[write to \\[DIR\\]]:DIR:_files -/' \\
          '--unit=[say it in UNIT]:UNIT:(m mile)' \\
          '*--rules=[follow RULES]:RULES: _spillway_names_or_files default documented anthropic buildkite discord docker-hub envoy-filter envoy-json express-rate-limit express-rate-limit-6 express-rate-limit-7 express-rate-limit-8 fastify github gitlab ietf-06 ietf-07 ietf-11 kong linear nginx okta openai shopify-graphql shopify-rest slack spring-cloud-gateway stripe traefik x' \\
          '--from=[read it from there]:FILE\\:LINE: ' \\
          '--tokens=[call with FILE]:FILE:_files' \\
          '--pictures[draw it]' \\
          '--no-pictures[draw it]' \\
          '1:A: _spillway_names_or_files x y z' ;;
        only) _arguments -S \\
          '*:A:(x y)' ;;
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
    "
  `);
});
