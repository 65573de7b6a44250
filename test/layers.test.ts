// The layer table of the rooms, enforced: who may import whom (type-only imports count too), and no clock,
// timer, randomness or platform-dependent arithmetic outside the rooms at the edge.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Visitor } from "oxc-parser";
import { describe, expect, test } from "vitest";
import { importsOf, syntaxOf } from "./support/imports.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Rooms that each room may import, beside itself. The same table stands in src/README.md. */
const layers: Readonly<Record<string, readonly string[]>> = {
  "src/rules": [],
  "src/policy": ["src/rules"],
  "src/wire": ["src/rules", "src/policy"],
  "src/files": ["src/rules"],
  "src/engine": ["src/rules", "src/policy", "src/wire"],
  "src/scenario": ["src/rules", "src/policy", "src/wire"],
  "src/trace": ["src/rules", "src/policy", "src/wire"],
  "src/logs": ["src/rules", "src/policy", "src/wire", "src/trace"],
  "src/map": ["src/rules", "src/policy", "src/wire", "src/trace", "src/logs"],
  "src/laws": ["src/rules", "src/policy", "src/wire", "src/engine"],
  "src/verify": ["src/rules", "src/policy", "src/wire", "src/trace"],
  "src/connect": ["src/rules", "src/policy", "src/wire"],
  "src/probe": ["src/rules", "src/policy", "src/wire", "src/trace", "src/connect"],
  "src/audit": [
    "src/rules",
    "src/policy",
    "src/wire",
    "src/trace",
    "src/verify",
    "src/connect",
    "src/probe",
    "src/summary",
  ],
  "src/faults": ["src/rules", "src/policy", "src/wire", "src/engine"],
  "src/service": ["src/rules", "src/policy", "src/wire", "src/engine", "src/faults"],
  "src/load": [
    "src/rules",
    "src/policy",
    "src/wire",
    "src/files",
    "src/scenario",
    "src/trace",
    "src/connect",
  ],
  "src/summary": ["src/rules", "src/policy", "src/wire", "src/trace"],
  "src/plan": ["src/rules", "src/policy", "src/wire", "src/scenario", "src/summary", "sim"],
  "src/report": [
    "src/rules",
    "src/policy",
    "src/files",
    "src/trace",
    "src/logs",
    "src/summary",
    "src/verify",
  ],
  "src/runs": [
    "src/rules",
    "src/policy",
    "src/wire",
    "src/files",
    "src/engine",
    "src/scenario",
    "src/trace",
    "src/logs",
    "src/laws",
    "src/verify",
    "src/faults",
    "src/load",
    "src/summary",
    "src/plan",
    "src/report",
    "sim",
  ],
  "src/cli": ["src", "sim"],
  sim: [
    "src/rules",
    "src/policy",
    "src/wire",
    "src/engine",
    "src/faults",
    "src/scenario",
    "src/trace",
    "src/logs",
    "src/verify",
    "src/summary",
  ],
  scenarios: ["src/scenario", "src/rules"],
};
/** Files that stand in `src` itself: the package's public entry, which may import every room. */
const entries = new Set(["src/index.ts"]);
/** The rooms that may read clocks, wait, draw true randomness and know the process. */
const edge = new Set([
  "src/files",
  "src/service",
  "src/connect",
  "src/load",
  "src/probe",
  "src/audit",
  "src/runs",
  "src/cli",
]);
/** The rooms that may use Node's modules beside the edge, and which files of them. */
const mayUseNode = new Set([
  "src/laws/describe-limiter.ts",
  "src/laws/weave.ts",
  "src/report/result-writer.ts",
  "src/report/run-folder.ts",
  "src/trace/plain-bytes.ts",
]);
/** k6 is imported in one place alone. */
const k6Entry = "src/load/k6/";
const packages: Readonly<Record<string, string>> = {
  "spillway/scenario": "src/scenario",
  "spillway/engine": "src/engine",
  "spillway/laws": "src/laws",
};

interface Source {
  readonly path: string;
  readonly room: string;
  readonly text: string;
}

function sources(): Source[] {
  return ["src", "sim", "scenarios"].flatMap((top) =>
    readdirSync(join(root, top), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => {
        const path = join(top, name);
        return { path, room: roomOf(path), text: readFileSync(join(root, path), "utf8") };
      }),
  );
}

function roomOf(path: string): string {
  const [top = "", second = ""] = path.split("/");
  return top === "src" && !entries.has(path) ? `src/${second}` : top;
}

/** The forbidden things that a file does, as words. */
function impurities({ path, text }: Source): string[] {
  const program = syntaxOf(path, text);
  const found: string[] = [];
  const globals = new Set([
    "performance",
    "process",
    "setTimeout",
    "setInterval",
    "setImmediate",
    "crypto",
    "fetch",
    "console",
    "globalThis",
  ]);
  const platformMath = new Set([
    "random",
    "exp",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "pow",
    "sin",
    "cos",
    "tan",
    "cbrt",
  ]);
  // `new Date(ms)`, `Date.UTC` and `Date.parse` are arithmetic; `new Date()` and `Date.now` read the clock.
  const arithmetic = new Set<unknown>();
  new Visitor({
    NewExpression(node) {
      if (node.arguments.length > 0) arithmetic.add(node.callee);
    },
    MemberExpression(node) {
      if (node.object.type !== "Identifier" || node.property.type !== "Identifier") return;
      const { object, property } = node;
      if (object.name === "Date" && ["UTC", "parse"].includes(property.name)) arithmetic.add(object);
      if (object.name === "Math" && platformMath.has(property.name)) found.push(`Math.${property.name}`);
      if (!node.computed && globals.has(property.name)) arithmetic.add(property);
    },
    Identifier(node) {
      if (node.name === "Date" && !arithmetic.has(node)) found.push("Date");
      if (globals.has(node.name) && !arithmetic.has(node)) found.push(node.name);
    },
  }).visit(program);
  return found;
}

/** Prints by itself: comments aside, which stand on lines of their own. */
const prints = /^(?!\s*(?:\/[/*]|\*)).*(?:\bconsole\.\w+\(|\bprocess\.std(?:out|err)\.write\()/m;

const all = sources();

describe("the layer table", () => {
  test("knows every room that exists", () => {
    const rooms = new Set(all.filter(({ path }) => !entries.has(path)).map(({ room }) => room));
    expect([...rooms].filter((room) => !(room in layers))).toEqual([]);
    expect(rooms.size).toBeGreaterThan(10);
  });

  test.each(all.filter(({ path }) => !entries.has(path)))(
    "$path imports only what its room may",
    (source) => {
      const allowed = layers[source.room] ?? [];
      for (const name of importsOf(source.path, source.text)) {
        if (name.startsWith("node:")) {
          const may = edge.has(source.room) || mayUseNode.has(source.path);
          expect(may, `${source.path} imports ${name}`).toBe(true);
        } else if (name.startsWith("k6")) {
          expect(source.path.startsWith(k6Entry), `${source.path} imports ${name}`).toBe(true);
        } else if (name.startsWith(".") || name in packages) {
          const target = packages[name] ?? roomOf(relative(root, resolve(root, dirname(source.path), name)));
          const may =
            target === source.room ||
            allowed.includes(target) ||
            (allowed.includes("src") && target.startsWith("src"));
          expect(may, `${source.path} imports ${name}, in ${target}`).toBe(true);
        }
      }
    },
  );

  test.each(all.filter(({ room }) => !edge.has(room)))("$path reads no clock and draws nothing", (source) => {
    expect(impurities(source)).toEqual([]);
  });
});

/** Files that import each other, in a circle or along with one. A module that is loaded when it is needed ties nobody. */
function circles(files: readonly Pick<Source, "path" | "text">[]): string[] {
  const left = new Map(
    files.map(({ path, text }) => {
      const names = importsOf(path, text, { lazy: false }).filter((name) => name.startsWith("."));
      return [path, names.map((name) => join(dirname(path), name))];
    }),
  );
  // A file goes that imports none of those left, or that none of them imports.
  for (let before = left.size + 1; left.size < before; ) {
    before = left.size;
    const imported = new Set([...left.values()].flat());
    for (const [path, names] of left)
      if (!imported.has(path) || !names.some((name) => left.has(name))) left.delete(path);
  }
  return [...left.keys()];
}

describe("imports", () => {
  test("have no circles, of types neither", () => {
    expect(circles(all)).toEqual([]);
  });

  test.each([
    [["b", "c", ""], []],
    [
      ["b", "a", "a"],
      ["a", "b"],
    ],
    [["a", "", ""], ["a"]],
  ])("%j: %j", (names, expected) => {
    const files = names.map((name, index) => ({
      path: `src/${"abc"[index]}.ts`,
      text: name === "" ? "" : `import type { A } from "./${name}.ts";`,
    }));
    expect(circles(files)).toEqual(expected.map((name) => `src/${name}.ts`));
  });
});

describe("exported types", () => {
  test("each have a name of their own", () => {
    const named = all.flatMap(({ path, text }) =>
      [...text.matchAll(/^export (?:abstract )?(?:interface|type|class) (\w+)/gm)].map(([, name = ""]) => ({
        name,
        path,
      })),
    );
    expect(named.length).toBeGreaterThan(500);
    const twice = named.filter(
      ({ name }, index) => named.findIndex((other) => other.name === name) !== index,
    );
    expect(twice).toEqual([]);
  });
});

describe("the terminal", () => {
  test("alone prints: it leaves nothing in names that a terminal obeys", () => {
    const found = all.filter(({ path, text }) => !path.startsWith(k6Entry) && prints.test(text));
    expect(found.map(({ path }) => path).sort()).toEqual([
      // Help and version, which have no names of others; errors that the terminal has described.
      "src/cli/command-line.ts",
      "src/cli/main.ts",
      "src/cli/program.ts",
      "src/cli/serve.ts",
      "src/cli/terminal.ts",
      // Node's message about a worker that ends, cleaned.
      "src/service/team.ts",
    ]);
  });

  test("has colours that it tells from those in names", () => {
    const found = all.filter(({ path, text }) => importsOf(path, text).includes("picocolors"));
    expect(found.map(({ path }) => path)).toEqual(["src/cli/colors.ts"]);
  });
});

/** Words of the wire format, as they stand in code: headers, the status of a refusal, its sentences, users' scopes. */
const wireWords = [
  /ratelimit-/i,
  /^retry-after$/i,
  /\b429\b/,
  /ha(?:s|ve) exceeded|per-user/i,
  /\b(?:rest|graphql)_user\b|^_user\b/,
];

/** Numbers and texts of a file's code in which a word of the wire format stands: comments aside. */
function wireTexts({ path, text }: Pick<Source, "path" | "text">): string[] {
  const found: string[] = [];
  const look = (value: string): void => {
    if (wireWords.some((word) => word.test(value))) found.push(value);
  };
  new Visitor({
    Literal: (node) => look(String(node.value)),
    TemplateElement: (node) => look(node.value.raw),
  }).visit(syntaxOf(path, text));
  return found;
}

describe("the wire format", () => {
  test("has one home: elsewhere its words stand in prose and names alone", () => {
    const strangers = all.filter(
      // Presets are formats as data, which the room reads and writes by.
      ({ room, path }) => room !== "src/wire" && !path.startsWith("src/policy/presets/"),
    );
    const found = strangers.flatMap((source) => wireTexts(source).map((text) => `${source.path}: ${text}`));
    expect(found.sort()).toEqual([
      'src/cli/log-options.ts: read only rows of Parquet, CSV or JSON lines that WHERE selects, by DuckDB: "where status = 429"',
      "src/faults/answers.ts: headers-missing-on-429",
      "src/faults/counting.ts: 429 while `enforced` is false",
      "src/faults/readings.ts: a cached 429 keeps its reset",
      "src/policy/names.ts: graphql_user",
      "src/policy/names.ts: rest_user",
      "src/probe/contact.ts: 429: even the status is refused",
      "src/scenario/retries/retry-after.ts: retry-after",
      "src/verify/header-presence.ts: headers-missing-on-429",
      "src/verify/policy-presence.ts: headers-missing-on-429",
      "src/verify/rules-answers.ts: is a status call, which is never refused, and was answered 429",
      "src/verify/suspects.ts: headers-missing-on-429",
    ]);
  });
});

describe("the test itself can fail", () => {
  const file = (text: string): Source => ({ path: "src/engine/x.ts", room: "src/engine", text });

  test.each([
    ["const isRefused = status === 429;", ["429"]],
    ['const text = headers["Ratelimit-Limit"];', ["Ratelimit-Limit"]],
    ['values.get("retry-after");', ["retry-after"]],
    ['const name = "rest_user";', ["rest_user"]],
    ["const refused = /^You have exceeded/.test(message);", ["/^You have exceeded/"]],
    ["// 429\nconst status = REFUSED;", []],
  ])("%s", (text, expected) => {
    expect(wireTexts(file(text))).toEqual(expected);
  });

  test.each([
    ["const t = Date.now();", ["Date"]],
    ["const t = new Date();", ["Date"]],
    ["const t = new Date(5).toISOString();", []],
    ["setTimeout(() => {}, 5);", ["setTimeout"]],
    ["const x = Math.random() + Math.pow(2, 0.5);", ["Math.random", "Math.pow"]],
    ["const x = globalThis.performance;", ["globalThis"]],
    ["const x = process.env;", ["process"]],
  ])("%s", (text, expected) => {
    expect(impurities(file(text))).toEqual(expected);
  });

  test("type-only, dynamic and re-exported modules count", () => {
    const text = `import type { A } from "./a.ts"; export * from "./b.ts"; const c = import("./c.ts"); type D = import("./d.ts").D;`;
    expect(importsOf("src/engine/x.ts", text).sort()).toEqual(["./a.ts", "./b.ts", "./c.ts", "./d.ts"]);
  });
});
