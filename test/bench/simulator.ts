// The simulator in events a second, an event being one pop of its queue, with clients that are real state machines:
// against the same world by hand in Go, and in simulators that others wrote, in the same run; its queue alone against a
// binary heap; memory a client. What is built before the first answer is left out on all sides.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { EventQueue } from "../../sim/event-queue.ts";
import { simulate, simulateNumbers } from "../../sim/simulate.ts";
import type { WorldCount } from "./peers/count.ts";
import { goWorld, nexosimWorld, simpyWorld, type WorldProgram } from "./peers/programs.ts";
import { simulatedBySimJs } from "./peers/simjs-world.ts";
import { worldOf } from "./peers/world.ts";
import { type BenchRow, isQuick, median, sized } from "./row.ts";

const run_ = promisify(execFile);
const ROUNDS = sized(5, 1);

interface Size {
  readonly label: string;
  readonly clients: number;
  /** Of virtual time. */
  readonly seconds: number;
  readonly bar: string;
}

const sizes: readonly Size[] = [
  {
    label: "10k clients",
    clients: 10_000,
    seconds: sized(1_800, 60),
    bar: ">= 0.5, and >= 10,000,000 events/s",
  },
  {
    label: "1M clients",
    clients: sized(1_000_000, 20_000),
    seconds: 60,
    bar: ">= 0.5, and >= 5,000,000 events/s",
  },
];

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

function simulated({ clients, seconds }: Size): WorldCount {
  let [calls, refused, firstMs] = [0, 0, 0];
  const { events } = simulateNumbers(worldOf(clients, seconds), {}, ({ status }) => {
    if (calls === 0) firstMs = nowMs();
    calls += 1;
    if (status === 429) refused += 1;
  });
  return { events, calls, refused, ms: nowMs() - firstMs };
}

/** The same calls as records of a trace: what objects cost. */
function recorded({ clients, seconds }: Size): WorldCount {
  let [calls, refused, firstMs] = [0, 0, 0];
  for (const { status } of simulate(worldOf(clients, seconds)).calls) {
    if (calls === 0) firstMs = nowMs();
    calls += 1;
    if (status === 429) refused += 1;
  }
  return { events: 3 * calls, calls, refused, ms: nowMs() - firstMs };
}

function mustAgree(ours: WorldCount, theirs: WorldCount): void {
  for (const member of ["events", "calls", "refused"] as const)
    if (ours[member] !== theirs[member])
      throw new Error(`the worlds differ: ${ours[member]} ${member} here, ${theirs[member]} by hand`);
}

const perSecond = ({ events, ms }: WorldCount): number => (1000 * events) / ms;

async function simulatorRows(size: Size, program: WorldProgram | null): Promise<BenchRow[]> {
  const [ours, hand, traced]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round <= ROUNDS; round++) {
    const count = simulated(size);
    const peer = program === null ? null : await program(size.clients, size.seconds);
    if (peer !== null) mustAgree(count, peer);
    // The first round is for the compiler.
    if (round === 0) continue;
    ours.push(perSecond(count));
    if (peer !== null) hand.push(perSecond(peer));
    if (round === 1) traced.push(perSecond(recorded(size)));
  }
  const value = median(ours);
  const name = `${size.label}: `;
  const rows: BenchRow[] = [{ name: `${name}simulator, as numbers`, value, unit: "events/s", bar: size.bar }];
  if (hand.length > 0) {
    const peer = median(hand);
    const against = "Go by hand";
    rows[0] = { ...(rows[0] as BenchRow), ratio: value / peer, against };
    rows.push({ name: `${name}Go by hand, ring of ms`, value: peer, unit: "events/s" });
  }
  const records = median(traced);
  const against = "as numbers";
  rows.push({ name: `${name}as a trace`, value: records, unit: "events/s", ratio: records / value, against });
  return rows;
}

/** Time and event in one double, ordered by both: the fastest plain heap of the figures to beat. */
class BinaryHeap {
  readonly #keys: Float64Array;
  #size = 0;
  nowMs = 0;

  constructor(capacity: number) {
    this.#keys = new Float64Array(capacity + 1);
  }

  push(timeMs: number, event: number): void {
    const key = timeMs * 2 ** 20 + event;
    let at = this.#size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = this.#keys[parent] as number;
      if (above <= key) break;
      this.#keys[at] = above;
      at = parent;
    }
    this.#keys[at] = key;
  }

  pop(): number {
    const keys = this.#keys;
    const first = keys[0] as number;
    this.#size -= 1;
    const last = keys[this.#size] as number;
    let at = 0;
    for (let child = 1; child < this.#size; child = 2 * at + 1) {
      if (child + 1 < this.#size && (keys[child + 1] as number) < (keys[child] as number)) child += 1;
      if ((keys[child] as number) >= last) break;
      keys[at] = keys[child] as number;
      at = child;
    }
    keys[at] = last;
    this.nowMs = Math.floor(first / 2 ** 20);
    return first - this.nowMs * 2 ** 20;
  }
}

/** Ns to pop an event and schedule it anew, up to a minute ahead. */
function rescheduling(queue: EventQueue | BinaryHeap, waiting: number): number {
  const pops = sized(3_000_000, 30_000);
  let draw = 12_345;
  const drawn = (): number => {
    draw = (Math.imul(draw, 1_103_515_245) + 12_345) >>> 0;
    return (draw >>> 4) % 60_000;
  };
  for (let event = 0; event < waiting; event++) queue.push(drawn(), event);
  const beginMs = nowMs();
  for (let pop = 0; pop < pops; pop++) {
    const event = queue.pop();
    queue.push(queue.nowMs + 1 + drawn(), event);
  }
  return ((nowMs() - beginMs) * 1e6) / pops;
}

function queueRows({ label, clients }: Size): BenchRow[] {
  const [wheels, heaps]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    wheels.push(rescheduling(new EventQueue(0, clients), clients));
    heaps.push(rescheduling(new BinaryHeap(clients), clients));
  }
  const [wheel, heap] = [median(wheels), median(heaps)];
  return [
    {
      name: `${label}: wheel alone`,
      value: wheel,
      unit: "ns/event",
      ratio: wheel / heap,
      against: "binary heap",
    },
    { name: `${label}: binary heap alone`, value: heap, unit: "ns/event" },
  ];
}

/** Tells the most memory that this process ever had. Run in a process of its own. */
export function peakMemory(clients: number): void {
  simulateNumbers(worldOf(clients, 60), {}, () => {});
  console.log(process.resourceUsage().maxRSS);
}

async function peakKilobytes(clients: number): Promise<number> {
  const program = `import(${JSON.stringify(import.meta.url)}).then((bench) => bench.peakMemory(${clients}))`;
  const { stdout } = await run_(process.execPath, ["--input-type=module", "-e", program]);
  return Number(stdout);
}

async function memoryRow(): Promise<BenchRow> {
  const [few, many] = [40, sized(1_000_000, 20_000)];
  const value = (1024 * ((await peakKilobytes(many)) - (await peakKilobytes(few)))) / (many - few);
  return {
    name: "memory a client, its user's name and windows included",
    value,
    unit: "bytes",
    bar: "<= 256 bytes",
  };
}

/** A few minutes of the smaller world: what others take for it is more than the rest of this bench together. */
const short: Size = { label: "10k clients, 2 min", clients: 10_000, seconds: sized(120, 10), bar: "" };
const shortRounds = sized(3, 1);

/** The others' count may differ where their ties or draws do. */
function mustNearlyAgree(name: string, ours: WorldCount, theirs: WorldCount): void {
  for (const member of ["events", "calls"] as const)
    if (Math.abs(theirs[member] / ours[member] - 1) > 0.02)
      throw new Error(`the worlds differ: ${ours[member]} ${member} here, ${theirs[member]} in ${name}`);
}

/** Simulators that others wrote. */
async function peerRows(): Promise<BenchRow[]> {
  const programs: (readonly [name: string, program: WorldProgram | null])[] = [
    // To get these takes longer than all of a quick run.
    ["NeXosim 1 (Rust)", isQuick ? null : await nexosimWorld()],
    ["SimPy 4 (Python)", isQuick ? null : await simpyWorld()],
    ["simjs 2", async (clients, seconds) => simulatedBySimJs(clients, seconds, nowMs)],
  ];
  const ours: number[] = [];
  const theirs = new Map<string, number[]>();
  for (let round = 0; round < shortRounds; round++) {
    const count = simulated(short);
    ours.push(perSecond(count));
    for (const [name, program] of programs) {
      if (program === null) continue;
      const peer = await program(short.clients, short.seconds);
      mustNearlyAgree(name, count, peer);
      theirs.set(name, [...(theirs.get(name) ?? []), perSecond(peer)]);
    }
  }
  const value = median(ours);
  const rows = [...theirs].map(([name, rates]): BenchRow => {
    const ratio = median(rates) / value;
    return {
      name: `${short.label}: ${name}`,
      value: median(rates),
      unit: "events/s",
      ratio,
      against: "simulator",
    };
  });
  return [{ name: `${short.label}: simulator, as numbers`, value, unit: "events/s" }, ...rows];
}

export async function run(): Promise<BenchRow[]> {
  const program = await goWorld();
  const rows: BenchRow[] = [];
  for (const size of sizes) rows.push(...(await simulatorRows(size, program)), ...queueRows(size));
  return [...rows, ...(await peerRows()), await memoryRow()];
}
