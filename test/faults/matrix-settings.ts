// Settings of a run of the fault matrix: `npm run faults -- --quick`, `--only NAME,...`, `--nets P,V`.
import { parseArgs } from "node:util";
import { faults } from "../../src/faults/catalogue.ts";
import { type ChosenFault, parseFault } from "../../src/faults/choice.ts";
import type { Net } from "../../src/faults/fault.ts";
import { type DriverName, driverNames } from "../../src/load/driver.ts";

export interface Settings {
  readonly only: readonly ChosenFault[];
  readonly nets: readonly Net[];
  readonly seed: number;
  /** Who drives the real runs; k6 where it is found, else Node, where it is left out. */
  readonly driver: DriverName | undefined;
  /** Runs of each law. */
  readonly lawRuns: number;
  /** True if faults are held to all laws, in rows without P, too; false if to those that find them first. */
  readonly allLaws: boolean;
  /** Simulations of each fault. */
  readonly seeds: number;
  /** Tells whether a fault is run by k6 in this form of the matrix. */
  readonly isReal: (chosen: ChosenFault) => boolean;
  readonly k6Ms: number;
  /** Real runs at a time: they mostly wait. */
  readonly lanes: number;
  readonly alarmRuns: number;
  readonly alarmRecords: number;
  readonly out: string | null;
  /** True if faults that are not asked for keep their rows in `out`. */
  readonly publish: boolean;
  readonly resume: boolean;
  readonly command: string;
}

const ALL: readonly Net[] = ["P", "V", "L", "A"];

/** The catalogue's forms: nodes are skewed by a whole number of short windows, and by none. */
export const forms: readonly ChosenFault[] = faults
  .flatMap(({ name }) => (name === "skewed-nodes" ? [`${name}=10`, `${name}=3.7`] : [name]))
  .map(parseFault);

/** @throws SpillwayError or TypeError for what cannot be used */
export function settingsOf(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string" },
      nets: { type: "string" },
      runs: { type: "string" },
      records: { type: "string" },
      seed: { type: "string", default: "1" },
      out: { type: "string" },
      driver: { type: "string" },
      quick: { type: "boolean", default: false },
      alarms: { type: "boolean", default: false },
      publish: { type: "boolean", default: false },
      resume: { type: "boolean", default: false },
    },
  });
  const { quick, only, nets, alarms } = values;
  const publish = values.publish || alarms;
  const whole = (text: string | undefined, usual: number): number => {
    const number = text === undefined ? usual : Number(text);
    if (!Number.isSafeInteger(number) || number < 0) throw new TypeError(`${text} is no whole number`);
    return number;
  };
  if (alarms && only !== undefined) throw new TypeError("--alarms is of no fault: without --only");
  // The tests hold each fault to the laws already; judge it in simulated traces; and audit it.
  const usual: readonly Net[] = quick ? ["L"] : ALL;
  const wanted = alarms ? [] : (nets?.split(",") ?? usual);
  if (publish && (quick || nets !== undefined || values.driver !== undefined))
    throw new TypeError("--publish is of whole rows: with --only alone");
  const isPart = only !== undefined || nets !== undefined || values.driver !== undefined;
  return {
    only: alarms ? [] : only === undefined ? forms : only.split(",").flatMap(formsOf),
    nets: ALL.filter((net) => wanted.includes(net)),
    seed: whole(values.seed, 1),
    driver: driverOf(values.driver),
    lawRuns: quick ? 20 : 100,
    allLaws: !quick,
    seeds: quick ? 1 : 10,
    isReal: ({ fault: { nets: named, processes } }) =>
      !quick ||
      only !== undefined ||
      processes !== null ||
      (named.includes("L") && !(named.includes("P") && named.includes("V"))),
    k6Ms: quick ? 11_000 : 15_000,
    lanes: 3,
    alarmRuns: whole(values.runs, isPart ? 0 : quick ? 20 : 3_000),
    alarmRecords: whole(values.records, isPart || quick || values.runs !== undefined ? 0 : 10_000_000),
    // Half of a matrix is not published.
    out: values.out ?? ((isPart || quick) && !publish ? null : "reports/faults"),
    publish,
    resume: values.resume,
    command: [
      "npm run faults",
      ...(args.length === 0 || publish ? [] : ["--", ...args.filter((word) => word !== "--resume")]),
    ].join(" "),
  };
}

function driverOf(text: string | undefined): DriverName | undefined {
  const found = driverNames.find((name) => name === text);
  if (text !== undefined && found === undefined) throw new TypeError(`there is no driver ${text}`);
  return found;
}

/** One fault with its rate, or all forms of it. */
function formsOf(text: string): ChosenFault[] {
  const chosen = parseFault(text);
  return text.includes("=") ? [chosen] : forms.filter(({ fault }) => fault === chosen.fault);
}
