// The report's style: one column, hairlines, the colours of the pictures as variables for light and dark.

const light = `
  --paper: #fcfcfa; --raised: #f3f4f2; --ink: #1c2126; --muted: #59626b; --line: #e3e6e4; --axis: #b4bbc0;
  --good: #1d6f42; --bad: #b3261e; --link: #1f6a8c;
  --admitted: #2b7a9e; --user: #6d5bb5; --limit: #3d454d; --predicted: #b4540a;
  --refused: #c4372b; --refused-user: #c67c0c; --refused-unknown: #8f7261; --unanswered: #7d8790;
  --series-1: #2b7a9e; --series-2: #c2570c; --series-3: #6d5bb5; --series-4: #2f7d55; --series-5: #b03a7e;
  --series-6: #776a1c;`;

const dark = `
  --paper: #14171a; --raised: #1c2024; --ink: #e7eaec; --muted: #a3acb4; --line: #2b3137; --axis: #505962;
  --good: #6cc495; --bad: #f28b80; --link: #79bcdc;
  --admitted: #5aaed3; --user: #a99be8; --limit: #c4cbd1; --predicted: #f2a15f;
  --refused: #ef6f62; --refused-user: #f0b754; --refused-unknown: #b59a86; --unanswered: #78828b;
  --series-1: #5aaed3; --series-2: #f2a15f; --series-3: #a99be8; --series-4: #6cc495; --series-5: #e585bd;
  --series-6: #cdb95c;`;

const colors = `:root { color-scheme: light dark;${light}
}
@media (prefers-color-scheme: dark) { :root {${dark}
} }`;

const font = `system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif`;

/** Style of a picture in a file of its own. */
export const standaloneStyle = `${colors}
svg { font-family: ${font}; }`;

export const pageStyle = `${colors}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 ${font}; }
main, header, footer { max-width: 61rem; margin-inline: auto; padding: 0 1.25rem; }
header { padding-top: 3rem; }
footer { margin-top: 2.5rem; padding-bottom: 3rem; color: var(--muted); font-size: .875rem; }
a { color: var(--link); }
h1 { margin: .1rem 0 .4rem; font-size: clamp(1.9rem, 5vw, 2.6rem); line-height: 1.15; letter-spacing: -.02em;
  font-weight: 650; overflow-wrap: anywhere; }
h2 { margin: 0 0 .35rem; font-size: 1.375rem; line-height: 1.25; letter-spacing: -.01em; font-weight: 640; }
h3 { margin: 1.9rem 0 .3rem; font-size: 1rem; font-weight: 620; overflow-wrap: anywhere; }
p { margin: .35rem 0 .8rem; max-width: 44rem; overflow-wrap: anywhere; }
section { margin: 3.25rem 0 0; padding-top: 1.6rem; border-top: 1px solid var(--line); }
.kicker { margin: 0; color: var(--muted); font-size: .875rem; }
.lead { font-size: 1.0625rem; color: var(--muted); }
code, pre, .mono { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .875em; }
code { overflow-wrap: anywhere; }
pre { margin: .4rem 0 1rem; padding: .8rem 1rem; background: var(--raised); border-radius: 6px; overflow-x: auto;
  white-space: pre-wrap; overflow-wrap: anywhere; }

.verdict { margin: 1.6rem 0 0; padding: 1rem 1.2rem; border-radius: 8px; background: var(--raised);
  border-left: 4px solid var(--muted); }
.verdict p { margin: .15rem 0 0; }
.verdict .what { font-size: 1.1875rem; font-weight: 620; margin: 0; }
.verdict.good { border-color: var(--good); } .verdict.bad { border-color: var(--bad); }
.good .what, .state.good { color: var(--good); } .bad .what, .state.bad { color: var(--bad); }
.state { font-weight: 600; white-space: nowrap; } .state.none { color: var(--muted); font-weight: 400; white-space: normal; }

.ran { margin-top: 1.4rem; }
.laws { list-style: none; margin: .8rem 0 .9rem; padding: 0; display: flex; flex-wrap: wrap; gap: .3rem 1.25rem;
  font-size: .9375rem; }
.laws .state { font-weight: 450; } .laws .state.bad { font-weight: 650; }
.spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.key { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: 1.1rem 1.5rem;
  margin: 1.9rem 0 0; padding: 0; }
.key dt { color: var(--muted); font-size: .875rem; line-height: 1.3; }
.key dd { margin: 0; font-size: 1.5rem; font-weight: 600; letter-spacing: -.01em; font-variant-numeric: tabular-nums; }
.key dd small { display: block; font-size: .8125rem; font-weight: 400; color: var(--muted); letter-spacing: 0;
  line-height: 1.35; }

figure { margin: 0 0 1.2rem; }
figcaption { color: var(--muted); font-size: .9375rem; max-width: 44rem; margin: 0 0 .6rem; }
.picture { position: relative; }
.picture > svg { display: block; width: 100%; height: auto; }
.picture > svg.narrow { display: none; }
.picture > svg > .plot { overflow: hidden; } .plot path { vector-effect: non-scaling-stroke; }
.files { float: right; margin: 0; padding-left: .9rem; font-size: .8125rem; display: flex; gap: .9rem; }

.picture:focus-visible { outline: 2px solid var(--link); outline-offset: 3px; border-radius: 2px; }
.zoomable { cursor: crosshair; touch-action: pan-y; user-select: none; -webkit-user-select: none; }
.rule, .reading, .picked { display: none; position: absolute; pointer-events: none; }
.rule { border-left: 1px solid var(--ink); border-top: 1px solid var(--ink); opacity: .55; }
.reading { z-index: 1; padding: .35rem .6rem; font-size: .8125rem; line-height: 1.4; max-width: 20rem; border-radius: 5px;
  background: var(--raised); border: 1px solid var(--axis); font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.reading div { display: flex; justify-content: space-between; gap: 1rem; } .reading span { color: var(--muted); }
.picked { top: 0; bottom: 0; background: var(--link); opacity: .15; }
.legend.beside-zoom { padding-right: 8.5rem; min-height: 1.6rem; }
.zoom { position: absolute; right: 0; top: -1.7rem; display: none; gap: .25rem; }
.zoomable:hover > .zoom, .zoomable:focus-within > .zoom, .zoomed > .zoom { display: flex; }
.zoom button { font: inherit; font-size: .8125rem; line-height: 1.2; padding: .1rem .5rem; color: var(--ink);
  background: var(--raised); border: 1px solid var(--axis); border-radius: 4px; cursor: pointer; }
.zoom button:last-child { display: none; } .zoomed > .zoom button:last-child { display: block; }
.legend { list-style: none; margin: 0 0 .2rem; padding: 0; display: flex; flex-wrap: wrap; gap: .15rem 1.1rem;
  font-size: .8125rem; color: var(--muted); }
.swatch { display: inline-block; width: 1.1rem; margin-right: .4rem; vertical-align: middle; }
.swatch.line { border-top: 3px solid var(--swatch); } .swatch.dashed { border-top: 2px dashed var(--swatch); }
.swatch.area { height: .7rem; width: .7rem; border-radius: 2px; background: var(--swatch); }

.scroll { clear: both; overflow-x: auto; margin: .5rem 0 1rem; }
.scroll:focus-visible, summary:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; font-variant-numeric: tabular-nums; }
caption:not(.spoken) { text-align: left; color: var(--muted); font-size: .875rem; padding: 0 0 .4rem; }
th, td { padding: .38rem .9rem .38rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { font-weight: 600; } thead th { color: var(--muted); font-size: .8125rem; font-weight: 500; vertical-align: bottom; }
th.number, td.number { text-align: right; white-space: nowrap; }
td small { display: block; color: var(--muted); }
th:last-child, td:last-child { padding-right: 0; }
td.number + td:not(.number), th.number + th:not(.number) { padding-left: .7rem; }
tbody th { font-weight: 500; }
td.name, tbody th.name { overflow-wrap: break-word; min-width: 7rem; max-width: 22rem; }
details { margin: .2rem 0 1rem; } figure::after { content: ""; display: block; clear: both; }
summary { cursor: pointer; color: var(--link); font-size: .9375rem; width: fit-content; }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.4rem; margin: .6rem 0 1.2rem; }
dl.facts dt { color: var(--muted); } dl.facts dd { margin: 0; overflow-wrap: anywhere; }
.violation { margin: 1.1rem 0; padding: .1rem 0 .1rem 1rem; border-left: 3px solid var(--bad); }
.violation h3 { margin: 0 0 .2rem; } .violation p { margin: .2rem 0; }

@media (max-width: 44.99rem) {
  header { padding-top: 1.75rem; }
  section { margin-top: 2.4rem; padding-top: 1.3rem; }
  .picture > svg.wide { display: none; } .picture > svg.narrow { display: block; max-width: 36rem; }
  .reading { font-size: .75rem; max-width: 62vw; padding: .2rem .4rem; }
  .key { grid-template-columns: repeat(2, 1fr); }
  dl.facts { grid-template-columns: 1fr; gap: 0; } dl.facts dd { margin-bottom: .55rem; }
  table { font-size: .8438rem; } thead th { font-size: .75rem; }
  th, td { padding-right: .6rem; } td.name, tbody th.name { min-width: 0; max-width: 9rem; }
  table.stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table.stack, table.stack tbody, table.stack tr, table.stack th, table.stack td { display: block; border: 0; padding: 0; max-width: none; }
  table.stack tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
}
@media (hover: none) { .zoomable > .zoom { display: flex; position: static; justify-content: flex-end; } }
@media print { .zoom, .files { display: none !important; } section { break-inside: avoid; } .scroll { overflow: visible; } }
`;
