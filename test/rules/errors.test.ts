// Coded errors as a user meets them, and the words around them: quoted values, near misses, names without codes.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  algorithms,
  claimsInTraces,
  claimsOf,
  lawsOf,
  misspelt,
  promiseProblems,
} from "../../src/rules/algorithms.ts";
import { closest } from "../../src/rules/closest.ts";
import { isDeep } from "../../src/rules/depth.ts";
import { type ErrorCode, errorCodes, quote, SpillwayError } from "../../src/rules/errors.ts";
import { parseDocument } from "../../src/rules/json.ts";
import {
  changedForms,
  type LimiterLawName,
  lawNames,
  limiterLawNames,
  voidEverywhere,
  voidReason,
} from "../../src/rules/laws.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { printable, printableJson, printableLines, shortName } from "../../src/rules/printable.ts";
import { parseShare } from "../../src/rules/share.ts";

test("an error tells its problems, its next step and the status that a command ends with", () => {
  const problem = { path: "a.b", got: "3", allowed: "4" };
  const cause = new Error("within");
  const error = new SpillwayError("USAGE", "this is wrong", { problems: [problem], hint: "mend it", cause });
  expect(String(error)).toBe("SpillwayError: this is wrong\n  a.b: got 3, allowed: 4");
  expect([error.code, error.problems, error.hint, error.cause]).toEqual([
    "USAGE",
    [problem],
    "mend it",
    cause,
  ]);
  const bare = new SpillwayError("USAGE", "this is wrong");
  expect([bare.message, bare.problems, bare.hint, "cause" in bare]).toEqual([
    "this is wrong",
    [],
    undefined,
    false,
  ]);
});

test("mistakes end a command with 2, what its surroundings lack with 3, and an interruption with 130", () => {
  const surroundings: readonly ErrorCode[] = [
    "PORT_IN_USE",
    "WORKER_FAILED",
    "TARGET_UNREACHABLE",
    "K6_MISSING",
    "DOWNLOAD_FAILED",
    "DUCKDB_MISSING",
    "OPENER_MISSING",
    "K6_FAILED",
  ];
  const expected = (code: ErrorCode): number =>
    code === "INTERRUPTED" ? 130 : surroundings.includes(code) ? 3 : 2;
  for (const code of Object.keys(errorCodes) as ErrorCode[])
    expect([code, new SpillwayError(code, "").exitCode]).toEqual([code, expected(code)]);
});

describe("a value as it is quoted", () => {
  const circle: unknown[] = [];
  circle.push(circle);
  test.each([
    ["nothing", undefined, "nothing"],
    ["null", null, "null"],
    ["a text", 'a "b"', '"a \\"b\\""'],
    ["a number", 1.5, "1.5"],
    ["no number", Number.NaN, "NaN"],
    ["a number beyond all", Number.POSITIVE_INFINITY, "Infinity"],
    ["a big one", 12n, "12"],
    ["an object", { a: [1] }, '{"a":[1]}'],
    ["a function", () => 1, "function"],
    ["a circle", circle, "object"],
    ["60 characters", "x".repeat(58), `"${"x".repeat(58)}"`],
    ["more than 60", "x".repeat(59), `"${"x".repeat(56)}...`],
  ])("%s", (_name, value, expected) => {
    expect(quote(value)).toBe(expected);
  });
});

describe("the known word that was meant", () => {
  const words = ["simulate", "swarm", "serve", "status"];
  test.each([
    ["a letter too few", "simulte", "simulate"],
    ["a letter too many", "simulatee", "simulate"],
    ["another letter", "simulade", "simulate"],
    ["two letters of six", "stitas", "status"],
    ["three letters of six", "stires", null],
    ["the nearest of several", "serse", "serve"],
    ["the first of two as near", "swarve", "swarm"],
    ["itself", "swarm", "swarm"],
    ["none", "", null],
  ])("%s", (_name, word, expected) => {
    expect(closest(word, words)).toBe(expected);
  });

  test("a short word may have one mistake", () => {
    expect([closest("ab", ["b"]), closest("ab", ["c"]), closest("a", ["b"]), closest("", ["b"])]).toEqual([
      "b",
      null,
      "b",
      "b",
    ]);
  });

  /** Edits by their definition. */
  const edits = (a: string, b: string): number =>
    a === "" || b === ""
      ? a.length + b.length
      : Math.min(
          edits(a.slice(1), b.slice(1)) + (a[0] === b[0] ? 0 : 1),
          edits(a.slice(1), b) + 1,
          edits(a, b.slice(1)) + 1,
        );

  test("by the fewest edits, whatever the words", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 5 });
    fc.assert(
      fc.property(word, fc.array(word, { maxLength: 3 }), (given, known) => {
        const most = Math.max(1, Math.floor(given.length / 3));
        const near = known.filter((one) => edits(given, one) <= most);
        const least = Math.min(...near.map((one) => edits(given, one)));
        expect(closest(given, known)).toBe(near.find((one) => edits(given, one) === least) ?? null);
      }),
      { numRuns: 60 },
    );
  });
});

describe("text of somebody else's", () => {
  test("is one line without anything that a terminal obeys", () => {
    expect(printable("a\r\n\tb\u2028c\u0085d")).toBe("a b c d");
    expect(printable("\u001b[2Ja\u0007\u009b\u202eb\ud800")).toBe(
      "\u{fffd}[2Ja\u{fffd}\u{fffd}\u{fffd}b\u{fffd}",
    );
    expect(printable("ä 😀")).toBe("ä 😀");
  });

  test("keeps lines and tabs in a document", () => {
    expect(printableLines("a\tb\nc\r\nd\re\u001bf")).toBe("a\tb\nc\r\nd\u{fffd}e\u{fffd}f");
  });

  test("is a name of 100 characters at most", () => {
    expect(shortName("x".repeat(100))).toBe("x".repeat(100));
    expect(shortName("x".repeat(101))).toBe(`${"x".repeat(99)}…`);
    expect(shortName("a\nb")).toBe("a b");
  });

  test("is JSON that is printable, and equal when it is read", () => {
    const value = { a: "\u007f\u0085\u2028\u202e", b: 1 };
    expect(printableJson(value)).toBe('{"a":"\\u007f\\u0085\\u2028\\u202e","b":1}');
    expect(JSON.parse(printableJson(value, 1))).toEqual(value);
    expect(printableJson({ b: 1 }, 1)).toBe('{\n "b": 1\n}');
  });
});

test.each([
  ["5%", 0.05],
  [" 2.5 % ", 0.025],
  ["0.05", 0.05],
  ["1", 1],
  ["150%", 1.5],
  ["%", null],
  ["-5%", null],
  ["5 percent", null],
  [".5", null],
])("a share as it is written: %s", (text, expected) => {
  expect(parseShare(text)).toBe(expected);
});

test("values that nest deeper than 100 levels are deep", () => {
  const nested = (depth: number): unknown => {
    let value: unknown = 1;
    for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
    return value;
  };
  expect([0, 1, 100, 101, 1000].map((depth) => isDeep(nested(depth)))).toEqual([
    false,
    false,
    false,
    true,
    true,
  ]);
  expect([isDeep(null), isDeep([]), isDeep({ a: [1, nested(101)] })]).toEqual([false, false, true]);
});

describe("a document's mistakes", () => {
  const kind = {
    name: "tokens file",
    code: "TOKENS_INVALID",
    pathOf: (path: readonly (string | number)[]) => path.join("/"),
  } as const;
  const mistake = (text: string, isSecret?: boolean): unknown => {
    try {
      return parseDocument(text, "tokens.json", isSecret === undefined ? kind : { ...kind, isSecret });
    } catch (error) {
      if (!(error instanceof SpillwayError)) throw error;
      return [error.code, error.problems[0]?.path, error.problems[0]?.got];
    }
  };

  test("are quoted, unless the document is secret", () => {
    expect(mistake('{"token":sesame}')).toEqual([
      "JSON_INVALID",
      "tokens.json",
      expect.stringContaining("sesame"),
    ]);
    expect(mistake('{"token":sesame}', false)).toEqual(mistake('{"token":sesame}'));
    expect(mistake('{"token":sesame}', true)).toEqual([
      "JSON_INVALID",
      "tokens.json",
      "text that is no JSON",
    ]);
  });

  test("are members that stand twice, by their path; a byte order mark is none", () => {
    expect(mistake('[{"a":{"b":1,"b":2}}]')).toEqual(["TOKENS_INVALID", "0/a/b", "it twice"]);
    expect(mistake('\uFEFF{"a":1}')).toEqual({ a: 1 });
  });
});

describe("laws", () => {
  const rulesOf = (semantics: object) => parseRules({ semantics });
  const voids = (semantics: object, scope: "rest" | "graphql"): LimiterLawName[] =>
    limiterLawNames.filter((law) => voidReason(law, rulesOf(semantics), scope) !== null);
  const [counted, postpaid] = [{ refused: "counted" }, { graphqlCharge: "postpaid" }];

  test.each([
    ["none by default", {}, "rest", []],
    ["none where points are reserved", { graphqlCharge: "reserved" }, "graphql", []],
    ["a bound where refusals are counted", counted, "rest", ["bounded", "give-back"]],
    ["a bound of GraphQL where the last call may pass it", postpaid, "graphql", ["bounded", "rate-bound"]],
    ["none of REST, whose calls cost one", postpaid, "rest", []],
    ["all of these", { ...counted, ...postpaid }, "graphql", ["bounded", "rate-bound", "give-back"]],
  ] as const)("a switch makes void %s", (_name, semantics, scope, expected) => {
    expect(voids(semantics, scope)).toEqual(expected);
  });

  test("are void everywhere only where they are in both scopes", () => {
    expect(voidEverywhere("bounded", rulesOf(counted))).toBe("refused calls are counted");
    expect(voidEverywhere("bounded", rulesOf(postpaid))).toBeNull();
    expect(voidReason("rate-bound", rulesOf(postpaid), "graphql")).toBe("postpaid may overshoot");
  });

  test("are promised by each algorithm, or not", () => {
    const any = ["status-free", "isolated", "snapshot-equals", "honest-wait", "rate-bound", "give-back"];
    const counts = [...any, "refusal-justified", "remaining-agrees"];
    const rates = [...counts, "recovers", "time-translates", "twice-at-most", "limit-agrees"];
    expect(lawsOf("fixed-window")).toEqual(limiterLawNames);
    expect(limiterLawNames.slice(0, lawNames.length)).toEqual(lawNames);
    expect(lawsOf("unknown").toSorted()).toEqual(any.toSorted());
    expect(lawsOf("concurrency").toSorted()).toEqual(counts.toSorted());
    for (const algorithm of ["token-bucket", "sliding-log", "sliding-counter"] as const)
      expect(lawsOf(algorithm).toSorted()).toEqual(rates.toSorted());
  });

  test.each([
    ["as they stand by default, of REST", {}, "rest", {}],
    [
      "of GraphQL where points are reserved",
      { graphqlCharge: "reserved" },
      "graphql",
      {
        conserved: ["completed calls count their actual cost"],
        monotone: ["current falls only by what completed calls give back"],
        "twice-at-most": ["by the final charges"],
        "rate-bound": ["by the final charges"],
      },
    ],
    ["as they stand of REST, where points are reserved", { graphqlCharge: "reserved" }, "rest", {}],
    [
      "by rounding",
      { reset: "floor" },
      "rest",
      {
        "reset-agrees": ["reset is rounded down, 0..W-1, W at the opening instant"],
        "honest-wait": ["a wait of whole seconds is a second longer"],
      },
    ],
    [
      "but for those that are void",
      counted,
      "rest",
      {
        conserved: ["refusals count in the window that they name"],
        "all-or-nothing": ["the refusing window is not judged"],
      },
    ],
  ] as const)("have other forms: %s", (_name, semantics, scope, expected) => {
    const forms = limiterLawNames.map((law) => [law, changedForms(law, rulesOf(semantics), scope)] as const);
    expect(Object.fromEntries(forms.filter(([, each]) => each.length > 0))).toEqual(expected);
  });

  test("are claimed of a limiter as far as it claims them and its algorithm promises them", () => {
    const window = { algorithm: "fixed-window", claims: "all" } as const;
    const some = ["conserved", "isolated", "twice-at-most", "limit-agrees", "rate-bound"] as const;
    expect(claimsOf(window)).toEqual(limiterLawNames);
    expect(claimsInTraces(window)).toBe("all");
    expect(claimsOf({ ...window, claims: some }).toSorted()).toEqual([...some].sort());
    expect(claimsInTraces({ ...window, claims: some })).toEqual([
      "conserved",
      "isolated",
      "twice-at-most",
      "limit-agrees",
    ]);
    const bucket = { algorithm: "token-bucket", claims: some } as const;
    expect(claimsOf(bucket).toSorted()).toEqual(["isolated", "limit-agrees", "rate-bound", "twice-at-most"]);
    expect(claimsInTraces(bucket)).toEqual(["twice-at-most", "limit-agrees"]);
    expect(claimsInTraces({ ...bucket, claims: "all" })).toEqual(["twice-at-most", "limit-agrees"]);
    expect(claimsInTraces({ ...bucket, claims: ["limit-agrees"] })).toEqual(["limit-agrees"]);
  });

  const problems = (promised: Parameters<typeof promiseProblems>[0]) =>
    promiseProblems(promised).map(({ path, got, allowed }) => [path, got, allowed]);

  test("a limiter's mistakes in what it claims are told by their place", () => {
    const list = `one of ${algorithms.map(quote).join(", ")}`;
    expect(problems({ algorithm: "token-bucket", claims: "all" })).toEqual([]);
    expect(problems({ algorithm: "token-bucket", claims: ["isolated"] })).toEqual([]);
    expect(problems({ claims: ["conserved"] })).toEqual([["algorithm", "nothing", list]]);
    expect(problems({ algorithm: "bucket", claims: "most" })).toEqual([
      ["algorithm", '"bucket"', list],
      ["claims", '"most"', '"all", or an array of law names'],
    ]);
    expect(problems({ algorithm: "token-bucket", claims: ["isolated", "conserved", "isolatd", 7] })).toEqual([
      ["claims[1]", '"conserved", no law of a token-bucket', lawsOf("token-bucket").join(", ")],
      ["claims[2]", '"isolatd"', '"isolated"'],
      ["claims[3]", "7", `one of ${lawsOf("token-bucket").map(quote).join(", ")}`],
    ]);
    expect(problems({ algorithm: "fixed-windw", claims: "all" })).toEqual([
      ["algorithm", '"fixed-windw"', '"fixed-window"'],
    ]);
  });

  test("its switches are those of the rules, with lists of their values", () => {
    const ofSemantics = (semantics: unknown) =>
      problems({ algorithm: "fixed-window", claims: "all", semantics });
    expect(ofSemantics({ anchor: ["epoch"], retryAfter: [true, false], reset: undefined })).toEqual([]);
    expect(ofSemantics([])).toEqual([["semantics", "[]", "an object"]]);
    expect(ofSemantics({ ancor: ["epoch"], reset: "ceil", anchor: ["epoc"], remaining: [] })).toEqual([
      ["semantics.ancor", '"ancor"', '"anchor"'],
      ["semantics.reset", '"ceil"', 'an array of "ceil", "floor", "round"'],
      ["semantics.anchor[0]", '"epoc"', '"epoch"'],
      ["semantics.remaining", "[]", 'an array of "clamped", "signed"'],
    ]);
  });

  test("a name that is nearly that of a fact is told, and any other is the user's own", () => {
    expect(misspelt({ anchr: "epoch", limit: 5, anchor: "epoch" }, ["anchor", "claims"])).toEqual([
      { path: "anchr", got: "a fact that is not known", allowed: "anchor" },
    ]);
  });
});
