// Every sentence that verdicts and replays are told in, by drawn small numbers: those that differ, in their order, in
// `bytes/sentences.txt`. `npm test -- test/report/said-words.test.ts -u` writes them anew; read the difference.
import { expect, test } from "vitest";
import { seededRandom } from "../../src/faults/random.ts";
import type { ReplayView } from "../../src/report/replay-view.ts";
import * as replay from "../../src/report/replay-words.ts";
import * as verdict from "../../src/report/verdict-words.ts";
import { noCounts, type Verdict } from "../../src/verify/verdict.ts";

const random = seededRandom(7);
const some = (most: number): number => Math.floor(random() * most);
const one = <T>(list: readonly T[]): T => list[some(list.length)] as T;
const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
const amount = (): number => one([0, 0, 1, 2, 1200]);

function viewOf(): ReplayView {
  const calls = one([0, 1, 7, 4000]);
  const refused = Math.min(calls, amount());
  const both = one([0, 1, 2]);
  const held = { figure: "refusedShare", bound: "<5%", actual: 0.02, held: true };
  return {
    log: {
      files: times(one([0, 1, 3]), (at) => `log${at}.csv`),
      firstAt: one([null, 1000, 1000]),
      lastAt: one([null, 1000, 91_000]),
      unread: amount(),
    },
    totals: { calls, refused, users: 1 + amount(), usersRefused: amount(), hopeless: amount() },
    under: one(["rules", "policy"]),
    callers: one(["2 users", "1 caller"]),
    apart: one(["", "They are apart."]),
    expectations: times(some(3), () =>
      one([
        held,
        { figure: "waitP95Ms", bound: "<1s", actual: null, held: false },
        { ...held, actual: 0.2, held: false },
      ]),
    ),
    hits: times(some(3), () => [
      one([0, 1, refused]),
      one(["by the user's window", "by the organization's"]),
    ]),
    headroom: times(some(3), (at) => ({ name: `quota${at}`, windowsFull: amount() })),
    recorded: one([
      null,
      ...[0, 1, 2].map((ofLog) => ({
        ...{ refused: ofLog, both: Math.min(both, ofLog), onlyInReplay: amount(), calls: 1 + amount() },
        seemsFiltered: one([true, false]),
      })),
    ]),
    smallest: times(some(3), (at) => ({
      limit: 10,
      smallest: one([9, 10, 11, 1200]),
      words: `of quota${at}`,
    })),
    demand: one([
      null,
      {
        ...{ wishes: 1 + amount(), retries: amount(), untold: amount(), untoldUsers: 1 + some(2) },
        limits: times(some(3), (at) => ({
          limit: 10,
          low: one([8, 12]),
          high: one([10, 11, 12, 14]),
          words: `of quota${at}`,
        })),
      },
    ]),
  } as unknown as ReplayView;
}

const evidence = () => ({
  readings: one([0, 1, 19, 20, 300]),
  refusals: amount(),
  windows: amount(),
  resets: amount(),
});
const law = () => one(["held", "violated", { skipped: "no window was whole" }, { skipped: noCounts }]);

function verdictOf(): Verdict {
  const off = {
    overAdmitted: amount(),
    overAdmission: 0.125,
    wronglyRefused: amount(),
    stalenessMs: one([null, 0, 240, 65_000]),
  };
  return {
    verdict: one(["ok", "ok", "ok", "violated", "unclear"]),
    methods: one([
      undefined,
      { places: amount(), bounds: amount(), readings: 1 + amount(), pinned: amount() },
    ]),
    evidence: one([undefined, { conserved: evidence() }, { conserved: evidence(), monotone: evidence() }]),
    amounts: one([undefined, { ...off, admitted: 9, refused: amount() }]),
    laws: { conserved: law(), bounded: law(), "limit-agrees": law(), "remaining-agrees": law() },
    violations: times(some(3), () => ({})),
    violationsFound: one([undefined, 4]),
    notJudged: one([
      undefined,
      times(some(4), (at) => ({ quota: `quota${at}`, why: one(["its level moves", "it is hidden"]) })),
    ]),
    inferred: times(1, () => ({
      ...{ scope: "rest", switch: "reset", value: one([null, "floor"]), explanation: "line 7 shows it" },
      candidates: one([undefined, ["ceil", "round"]]),
    })),
    questions: one([
      undefined,
      [
        { quota: "calls", question: "Is it so?" },
        { scope: "graphql", question: "Is it so?" },
      ],
    ]),
  } as unknown as Verdict;
}

const replayWords: readonly ((view: ReplayView) => string)[] = [
  replay.replayName,
  replay.replayOutcome,
  replay.expectedWords,
  replay.replayAnswer,
  replay.filteredWords,
  replay.hitWords,
  replay.smallestWords,
  replay.demandWords,
  replay.lookedAtWords,
  replay.recordedWords,
];
const verdictWords: readonly ((one: Verdict) => string | readonly string[])[] = [
  verdict.methodWords,
  ({ evidence: of }) => Object.values(of ?? {}).map(verdict.evidenceWords),
  (each) => verdict.evidenceGaps(each),
  (each) => verdict.evidenceGaps({ ...each, laws: undefined }),
  verdict.amountWords,
  ({ amounts }) =>
    amounts === undefined ? "" : verdict.windowOffWords({ ...amounts, limit: 200 } as never, "requests"),
  ({ inferred = [] }) => inferred.map(verdict.inferredWords),
  verdict.questionWords,
  verdict.notJudgedWords,
  (each) => String(verdict.leftOut(each)),
];

/** All that is said by one of the words, each sentence once. */
const saidBy = <T>(words: (of: T) => string | readonly string[], all: readonly T[]): string[] => [
  ...new Set(all.map((of) => [words(of)].flat().join(" / ") || "(nothing)")),
];

test("all sentences are the ones that they were", async () => {
  const [views, verdicts] = [times(70, viewOf), times(70, verdictOf)];
  const parts = [
    ...replayWords.map((words) => saidBy(words, views)),
    ...verdictWords.map((words) => saidBy(words, verdicts)),
  ];
  const text = parts.map((lines) => lines.join("\n")).join("\n\n");
  expect(text).not.toMatch(/NaN|undefined/);
  await expect(`${text}\n`).toMatchFileSnapshot("./bytes/sentences.txt");
});
