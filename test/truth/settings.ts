// Settings of a comparison: `npm run truth -- --quick`, `--only herd,steady`, `--seeds 3`.
import { parseArgs } from "node:util";
import ciFleet from "../../scenarios/ci-fleet.ts";
import herd from "../../scenarios/herd.ts";
import loneClient from "../../scenarios/lone-client.ts";
import steady from "../../scenarios/steady.ts";
import { type DriverName, driverNames } from "../../src/load/driver.ts";
import type { Scenario } from "../../src/scenario/scenario.ts";

const scenarios: readonly Scenario[] = [steady, ciFleet, herd, loneClient];

export interface Settings {
  readonly scenarios: readonly Scenario[];
  /** Each makes every run. */
  readonly drivers: readonly DriverName[];
  /** Runs of each, with the seeds from 1 on. */
  readonly seeds: number;
  readonly duration: string;
  /** Real runs at a time: they mostly wait. */
  readonly lanes: number;
  /** Folder of the result; `null` prints it only. */
  readonly out: string | null;
  readonly command: string;
}

/** @throws TypeError for what cannot be used */
export function settingsOf(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string" },
      driver: { type: "string" },
      seeds: { type: "string" },
      duration: { type: "string" },
      lanes: { type: "string" },
      out: { type: "string" },
      quick: { type: "boolean", default: false },
    },
  });
  const whole = (text: string | undefined, usual: number): number => {
    const number = text === undefined ? usual : Number(text);
    if (!Number.isSafeInteger(number) || number < 1) throw new TypeError(`${text} is no whole number from 1`);
    return number;
  };
  const names = values.only?.split(",");
  const unknown = names?.find((name) => !scenarios.some((one) => one.name === name));
  if (unknown !== undefined) throw new TypeError(`there is no scenario ${unknown}`);
  const driver = driverNames.find((name) => name === values.driver);
  if (values.driver !== undefined && driver === undefined)
    throw new TypeError(`there is no driver ${values.driver}; allowed: ${driverNames.join(", ")}`);
  const isWhole = !values.quick && names === undefined && driver === undefined && values.seeds === undefined;
  return {
    scenarios: scenarios.filter(({ name }) => names?.includes(name) ?? true),
    drivers: driver === undefined ? driverNames : [driver],
    seeds: whole(values.seeds, values.quick ? 1 : 10),
    duration: values.duration ?? (values.quick ? "20s" : "60s"),
    lanes: whole(values.lanes, 4),
    out: values.out ?? (isWhole ? "reports/truth" : null),
    command: ["npm run truth", ...(args.length > 0 ? ["--", ...args] : [])].join(" "),
  };
}
