// A simulation whose trace is written to disk, beside a bare writer that makes the same bytes of the same calls: it has
// them in memory, and knows no client, limiter or time. In processor time: what else the machine does is not counted.
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { simulate } from "../../sim/simulate.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { encodeCall } from "../../src/trace/write.ts";
import { worldOf } from "./peers/world.ts";
import { type BenchRow, median, sized } from "./row.ts";

const ROUNDS = sized(5, 1);
const clients = sized(2_000, 200);
const seconds = 1_200;
const linesAtOnce = 1_000;

interface Written {
  readonly calls: number;
  readonly bytes: number;
}

function writeLines(path: string, calls: Iterable<TraceCall>, encode: (call: TraceCall) => string): Written {
  const file = openSync(path, "w");
  let written = { calls: 0, bytes: 0 };
  let lines: string[] = [];
  const flush = (): void => {
    const bytes = written.bytes + writeSync(file, `${lines.join("\n")}\n`);
    written = { calls: written.calls + lines.length, bytes };
    lines = [];
  };
  for (const call of calls) {
    lines.push(encode(call));
    if (lines.length === linesAtOnce) flush();
  }
  flush();
  closeSync(file);
  return written;
}

export async function run(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "spillway-bench-"));
  const world = worldOf(clients, seconds);
  const known = [...simulate(world).calls].map((call) => JSON.parse(encodeCall(call)) as TraceCall);
  const contenders = {
    ours: (path: string) => writeLines(path, simulate(world).calls, encodeCall),
    bare: (path: string) => writeLines(path, known, JSON.stringify),
  };
  const rates: Record<keyof typeof contenders, number[]> = { ours: [], bare: [] };
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      const bytes = new Set<number>();
      for (const name of ["ours", "bare"] as const) {
        const before = process.cpuUsage();
        const written = contenders[name](join(folder, name));
        const { user, system } = process.cpuUsage(before);
        bytes.add(written.bytes);
        // The first round is for the compiler.
        if (round > 0) rates[name].push((1e6 * written.calls) / (user + system));
      }
      if (bytes.size !== 1) throw new Error(`the writers wrote ${[...bytes].join(" and ")} bytes`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const ratio = median(rates.ours.map((rate, round) => rate / (rates.bare[round] ?? Number.NaN)));
  const name = `${known.length.toLocaleString("en")} calls`;
  return [
    {
      name: `${name}, simulated, written as a trace`,
      value: median(rates.ours),
      unit: "calls/core s",
      ratio,
      against: "JSON.stringify, written",
      bar: ">= 0.5",
    },
    { name: `${name} at hand: JSON.stringify, written`, value: median(rates.bare), unit: "calls/core s" },
  ];
}
