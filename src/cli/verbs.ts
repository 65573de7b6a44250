// The verbs, in the order in which help names them. Each loads what it needs when it runs, so that `--help` needs
// neither Fastify nor esbuild.
import { verb as bundle } from "./bundle.ts";
import { verb as check } from "./check.ts";
import { verb as completion } from "./completion.ts";
import { verb as demo } from "./demo.ts";
import { verb as doctor } from "./doctor.ts";
import { verb as figures } from "./figures.ts";
import { verb as fit } from "./fit.ts";
import { verb as init } from "./init.ts";
import { verb as load } from "./load.ts";
import { verb as plan } from "./plan.ts";
import { verb as probe } from "./probe.ts";
import { verb as replay } from "./replay.ts";
import { verb as report } from "./report.ts";
import { verb as scenarios } from "./scenarios.ts";
import { verb as serve } from "./serve.ts";
import { verb as simulate } from "./simulate.ts";
import { verb as status } from "./status.ts";
import type { Verb } from "./verb.ts";
import { verb as verify } from "./verify.ts";

export const verbs: readonly Verb[] = [
  demo,
  check,
  simulate,
  plan,
  replay,
  fit,
  serve,
  load,
  bundle,
  verify,
  probe,
  status,
  report,
  scenarios,
  figures,
  init,
  doctor,
  completion,
];
