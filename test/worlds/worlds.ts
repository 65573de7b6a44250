// All worlds. Those that `fit` was tuned on are published apart from those that it never saw.
import { assistants } from "./assistants.ts";
import { bots } from "./bots.ts";
import { builds } from "./builds.ts";
import { campaigns } from "./campaigns.ts";
import { classrooms } from "./classrooms.ts";
import { cron } from "./cron.ts";
import { crowded } from "./crowded.ts";
import { dashboards } from "./dashboards.ts";
import { daysDiffer } from "./days-differ.ts";
import { feeds } from "./feeds.ts";
import { gateways } from "./gateways.ts";
import { greedy } from "./greedy.ts";
import { growing } from "./growing.ts";
import { heavyTails } from "./heavy-tails.ts";
import { helpdesk } from "./helpdesk.ts";
import { incidents } from "./incidents.ts";
import { infrastructure } from "./infrastructure.ts";
import { matrices } from "./matrices.ts";
import { mirrors } from "./mirrors.ts";
import { mixed } from "./mixed.ts";
import { mobile } from "./mobile.ts";
import { monorepo } from "./monorepo.ts";
import { newcomer } from "./newcomer.ts";
import { office } from "./office.ts";
import { offices } from "./offices.ts";
import { platform } from "./platform.ts";
import { projects } from "./projects.ts";
import { queries } from "./queries.ts";
import { queues } from "./queues.ts";
import { releases } from "./releases.ts";
import { settlement } from "./settlement.ts";
import { throttled } from "./throttled.ts";
import { tills } from "./tills.ts";
import { timeOuts } from "./time-outs.ts";
import { trains } from "./trains.ts";
import { warehouse } from "./warehouse.ts";
import { webhooks } from "./webhooks.ts";
import { webshop } from "./webshop.ts";
import type { World } from "./world.ts";

export const worlds: readonly World[] = [
  heavyTails,
  office,
  releases,
  timeOuts,
  cron,
  greedy,
  daysDiffer,
  mixed,
  webshop,
  incidents,
  feeds,
  builds,
  bots,
  offices,
  queues,
  newcomer,
  mirrors,
  webhooks,
  assistants,
  monorepo,
  mobile,
  warehouse,
  dashboards,
  matrices,
  growing,
  throttled,
  gateways,
  helpdesk,
  tills,
  infrastructure,
  projects,
  classrooms,
  settlement,
  platform,
  crowded,
  queries,
  trains,
  campaigns,
];
