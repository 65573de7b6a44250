// A replay for a pull request and for a build server.

import { count, counted } from "../rules/words.ts";
import { share } from "./format.ts";
import { expectationCase } from "./junit.ts";
import { document, type TestCase } from "./junit-document.ts";
import { marks, plain, table } from "./markdown-text.ts";
import { reactionWords, waitText } from "./replay-reaction-section.ts";
import { type AnyReplay, type ReactionView, type ReplayView, replayView } from "./replay-view.ts";
import {
  demandWords,
  expectedWords,
  filteredWords,
  hitWords,
  lookedAtWords,
  recordedWords,
  replayAnswer,
  replayName,
  replayOutcome,
  smallestWords,
} from "./replay-words.ts";

/** Number of users that fit into a comment on a pull request. */
const usersListed = 15;

/** Returns the replay in Markdown: the answer, the room that there was, the users hit. */
export function renderReplayMarkdown(replay: AnyReplay): string {
  const result = replayView(replay);
  const { headroom, users, reaction, under } = result;
  const hit = users.filter(({ refused }) => refused > 0);
  const more = result.totals.usersRefused - Math.min(hit.length, usersListed);
  const blocks = [
    `## ${marks[replayOutcome(result)]} ${plain(replayName(result))}: ${plain(replayAnswer(result))}`,
    plain(
      [
        filteredWords(result),
        lookedAtWords(result),
        expectedWords(result),
        hitWords(result),
        smallestWords(result),
        demandWords(result),
        recordedWords(result),
        result.interrupted ? "Interrupted: all of this is about the rows until then." : "",
      ]
        .filter((words) => words !== "")
        .join(" "),
    ),
    headroom.length === 0
      ? ""
      : table(
          ["Windows", "too full", "half use", "99% use", "fullest", "limit", "would have done"],
          headroom.map((one) => [
            plain(one.name),
            `${count(one.windowsOver)} of ${count(one.windows)}`,
            share(one.useP50),
            share(one.useP99),
            share(one.useMax),
            one.limit === null ? "–" : count(one.limit),
            one.smallest === null ? "–" : `${count(one.smallest)} ${one.unit}`,
          ]),
        ),
    hit.length === 0
      ? ""
      : table(
          [under === "rules" ? "User" : "Caller", "calls", "refused", "share"],
          hit
            .slice(0, usersListed)
            .map(({ name, calls, refused }) => [
              plain(name),
              count(calls),
              count(refused),
              share(refused / Math.max(1, calls)),
            ]),
        ),
    more > 0 ? `And ${counted(more, under === "rules" ? "user" : "caller")} more.` : "",
    reaction === null
      ? ""
      : `With callers that react (${plain(reaction.onRefused)}): ${plain(reactionWords(reaction))} Waits: half within ${waitText(reaction.waits.p50)}, 95% within ${waitText(reaction.waits.p95)}.`,
  ];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}

/**
 * Returns the replay as JUnit XML: each expectation held or not. Windows that would have refused, and unreadable rows,
 * are skipped cases: they are no failures by themselves.
 */
export function renderReplayJunit(replay: AnyReplay): string {
  const result = replayView(replay);
  const { log, reaction, expectations } = result;
  return document(replayName(result), log.firstAt, [
    ["expectations", expectations.map(expectationCase)],
    ["windows", windowCases(result)],
    ["log", [unreadCase(result)]],
    ["reaction", reaction === null ? [] : [reactionCase(reaction)]],
  ]);
}

const windowCases = ({ headroom }: ReplayView): TestCase[] =>
  headroom.map((one) => {
    const name = `${one.name}: no window would have refused a call`;
    if (one.windowsOver === 0) return { name };
    const skipped = `${count(one.windowsOver)} of ${counted(one.windows, "window")} would have refused; the fullest was asked for ${share(one.useMax)} of its limit, and ${count(one.smallestLimit)} ${one.unit} would have done`;
    return { name, skipped };
  });

function unreadCase({ log }: ReplayView): TestCase {
  const name = "every row could be read";
  const [first] = log.examples;
  if (log.unread === 0) return { name };
  const example = first === undefined ? "" : `, such as ${first.file}:${first.line}: ${first.why}`;
  return { name, skipped: `${counted(log.unread, "row")} could not${example}` };
}

function reactionCase(reaction: ReactionView): TestCase {
  const name = `with ${reaction.onRefused} every call gets through`;
  return reaction.gaveUp + reaction.unfinished === 0 ? { name } : { name, skipped: reactionWords(reaction) };
}
