// What was refused and whom it hit: over time, by population, by user.
import type { Series, TrafficSlot } from "../summary/series.ts";
import type { PopulationSummary, Summary, UserSummary } from "../summary/summary.ts";
import { chartSize, trafficChart, type UserBar, usersChart } from "./charts.ts";
import { count, counted, duration, figureText, share } from "./format.ts";
import { type Html, html } from "./html.ts";
import { drawPicture, type LegendEntry, type Picture } from "./picture.ts";
import { type ReportSource, refusalWords } from "./source.ts";
import { type Column, foldedTable, table } from "./table.ts";

const usersDrawn = 10;
const usersListed = 40;

export function refusalsSection(source: ReportSource): Html {
  const { run, series } = source;
  const { summary } = run;
  const [traffic, users] = refusalPictures(source);
  return html`<section id="refusals">
<h2>What was refused, and whom it hit</h2>
<p>${refusalWords(summary)}${gaveUpWords(summary)}</p>
${
  traffic === undefined
    ? null
    : html`<figure><h3>${traffic.title}</h3>
<figcaption>Answers in each ${duration(series.slotMs)}, at the time of the answer.</figcaption>
${drawPicture(traffic)}${trafficTable(series)}</figure>
`
}<h3>By population</h3>
${populationTable(summary)}${
  users === undefined
    ? null
    : html`<figure><h3>${users.title}</h3>
<figcaption>${usersCaption(summary)}</figcaption>
${drawPicture(users)}${userTable(summary)}</figure>
`
}</section>
`;
}

function gaveUpWords({ figures }: Summary): string {
  const gaveUp = figures.gaveUp ?? 0;
  if ((figures.refused ?? 0) === 0) return "";
  return gaveUp === 0
    ? " Every job that was refused was tried again and got through, or was still waiting at the end."
    : ` ${counted(gaveUp, "job")} ended with a refusal: given up, or still waiting at the end.`;
}

/** The pictures of this section: none where nothing was called. */
export function refusalPictures({ run, series }: ReportSource): Picture[] {
  const { summary } = run;
  if ((summary.figures.calls ?? 0) === 0) return [];
  const nameOf = userNames(summary);
  const bars = summary.users
    .slice(0, usersDrawn)
    .map((user) => userBar(user, nameOf(user)))
    .filter(hasCalls);
  const pictures: Picture[] = [
    {
      id: "traffic",
      title: "Calls over time",
      label: trafficLabel(summary, series),
      legend: legendOf(summary),
      option: (layout) => trafficChart(layout, series),
      size: (layout) => chartSize(layout, 240),
    },
  ];
  if (bars.length === 0) return pictures;
  pictures.push({
    id: "users",
    title: usersTitle(summary),
    label: `Bars by user: ${bars.map(barWords).join("; ")}.`,
    legend: legendOf(summary).filter(({ name }) => name !== "unanswered"),
    option: (layout) => usersChart(layout, bars),
    size: (layout) => chartSize(layout, 44 + bars.length * 26),
  });
  return pictures;
}

function legendOf({ figures }: Summary): LegendEntry[] {
  const unnamed =
    (figures.refused ?? 0) - (figures.refusedByUser ?? 0) - (figures.refusedByOrganization ?? 0);
  const entries: [string, string, number][] = [
    ["admitted", "var(--admitted)", 1],
    ["refused by the user's own window", "var(--refused-user)", figures.refusedByUser ?? 0],
    ["refused by the organization's window", "var(--refused)", figures.refusedByOrganization ?? 0],
    ["refused, not said by which", "var(--refused-unknown)", unnamed],
    ["unanswered", "var(--unanswered)", figures.unanswered ?? 0],
  ];
  return entries
    .filter(([, , amount]) => amount > 0)
    .map(([name, color]) => ({ name, color, swatch: "area" }));
}

const refusedIn = (slot: TrafficSlot): number =>
  slot.refusedByOrganization + slot.refusedByUser + slot.refusedByUnknown;

function trafficLabel(summary: Summary, { traffic, slotMs, lengthMs }: Series): string {
  const worst = traffic.reduce<TrafficSlot | null>(
    (most, slot) => (most === null || refusedIn(slot) > refusedIn(most) ? slot : most),
    null,
  );
  const peak =
    worst === null || refusedIn(worst) === 0
      ? ""
      : ` Most were refused ${duration(worst.atMs)} after the start: ${count(refusedIn(worst))} within ${duration(slotMs)}.`;
  return `Calls over ${duration(lengthMs)}. ${refusalWords(summary)}${peak}`;
}

function trafficTable({ traffic, slotMs }: Series): Html {
  const columns: Column<TrafficSlot>[] = [
    { title: "From", name: true, cell: ({ atMs }) => duration(atMs) },
    { title: "Admitted", number: true, cell: ({ admitted }) => count(admitted) },
    { title: "Refused by user's", number: true, cell: ({ refusedByUser }) => count(refusedByUser) },
    { title: "by organization's", number: true, cell: (slot) => count(slot.refusedByOrganization) },
    { title: "Unanswered", number: true, cell: ({ unanswered }) => count(unanswered) },
  ];
  return foldedTable(columns, traffic, { caption: `Answers in each ${duration(slotMs)}` });
}

const populationColumns = {
  calls: "Calls",
  admitted: "Admitted",
  refused: "Refused",
  refusedShare: "Share",
  gaveUp: "Gave up",
  unanswered: "Unanswered",
  statusCalls: "Status calls",
} as const;

/** Columns that would be empty are left out: a phone is narrow. */
function populationTable({ populations }: Summary): Html {
  const always = ["calls", "admitted", "refused", "refusedShare"];
  const names = (Object.keys(populationColumns) as (keyof typeof populationColumns)[]).filter(
    (name) => always.includes(name) || populations.some(({ figures }) => (figures[name] ?? 0) > 0),
  );
  const columns: Column<PopulationSummary>[] = [
    { title: "Population", name: true, cell: ({ name }) => name },
    { title: "Clients", number: true, cell: ({ clients }) => count(clients) },
    ...names.map(
      (name): Column<PopulationSummary> => ({
        title: populationColumns[name],
        number: true,
        cell: ({ figures }) => figureText(name, figures[name]),
      }),
    ),
  ];
  return table(columns, populations, { caption: "Calls and refusals of each population", titled: true });
}

/** Without the organization, where there is only one. */
function userNames({ users }: Summary): (user: UserSummary) => string {
  const organizations = new Set(users.map(({ org }) => org)).size;
  return ({ org, user }) => (organizations > 1 ? `${org}/${user}` : user);
}

function userBar({ figures }: UserSummary, name: string): UserBar {
  const refusedByUser = figures.refusedByUser ?? 0;
  const refusedByOrganization = figures.refusedByOrganization ?? 0;
  return {
    name,
    admitted: figures.admitted ?? 0,
    refusedByUser,
    refusedByOrganization,
    refusedByUnknown: (figures.refused ?? 0) - refusedByUser - refusedByOrganization,
  };
}

const hasCalls = (bar: UserBar): boolean =>
  bar.admitted + bar.refusedByUser + bar.refusedByOrganization + bar.refusedByUnknown > 0;

const barWords = (bar: UserBar): string =>
  `${bar.name} ${count(bar.admitted)} admitted, ` +
  `${count(bar.refusedByUser + bar.refusedByOrganization + bar.refusedByUnknown)} refused`;

function usersTitle({ figures, usersSeen }: Summary): string {
  if (usersSeen <= usersDrawn) return "By user";
  return figures.refused === 0 ? "The users who called most" : "The users who were refused most";
}

function usersCaption({ users, usersSeen, figures }: Summary): string {
  const refused = users.filter((one) => (one.figures.refused ?? 0) > 0).length;
  const hit =
    refused === 0
      ? "No user was refused."
      : `${count(refused)} of ${counted(usersSeen, "user")} ${refused === 1 ? "was" : "were"} refused at least once.`;
  const { fairness } = figures;
  return fairness === null
    ? hit
    : `${hit} Admitted calls were shared with a fairness of ${figureText("fairness", fairness)} (Jain's index: 1 is even, 1/n is one user having everything).`;
}

function userTable({ users, usersSeen }: Summary): Html {
  const columns: Column<UserSummary>[] = [
    { title: "User", name: true, cell: ({ org, user }) => `${org}/${user}` },
    { title: "Admitted", number: true, cell: ({ figures }) => figureText("admitted", figures.admitted) },
    { title: "Refused", number: true, cell: ({ figures }) => figureText("refused", figures.refused) },
    {
      title: "Share",
      number: true,
      cell: ({ figures }) => (figures.refusedShare === null ? "–" : share(figures.refusedShare)),
    },
    { title: "Gave up", number: true, cell: ({ figures }) => figureText("gaveUp", figures.gaveUp) },
    { title: "Wait, 95%", number: true, cell: ({ figures }) => figureText("waitP95Ms", figures.waitP95Ms) },
  ];
  const listed = users.slice(0, usersListed);
  const more =
    listed.length < usersSeen
      ? `The ${count(listed.length)} most refused of ${counted(usersSeen, "user")}; summary.json has more.`
      : null;
  return foldedTable(columns, listed, { caption: "Calls and refusals of each user", more });
}
