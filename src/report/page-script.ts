// The page's only script. A picture shows its readings under the pointer or by the arrow keys, and pictures over time
// can be zoomed. The page is complete without it. It makes no markup out of text, asks for nothing and keeps nothing.
// It reads only `data-readings` (readings.ts) and `data-plot` (picture.ts).

/** Plain JavaScript for browsers of the last years. */
export const pageScript = `"use strict";
(() => {
  const zooms = new Map();
  const make = (parent, name, className, text) => {
    const made = parent.appendChild(document.createElement(name));
    made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const round = (value, digits) => String(Number(value.toFixed(digits)));
  const time = (ms) => {
    if (ms < 1000) return round(ms, 0) + " ms";
    if (ms < 60000) return round(ms / 1000, 3) + " s";
    const seconds = ms / 1000, minutes = Math.floor(seconds / 60);
    const rest = (value, unit) => (value === 0 ? "" : " " + round(value, 3) + " " + unit);
    if (minutes < 60) return minutes + " min" + rest(seconds - minutes * 60, "s");
    return Math.floor(minutes / 60) + " h" + rest(minutes % 60, "min") + rest(Math.round(seconds) % 60, "s");
  };
  /** The drawing that is seen, of the wide and the narrow one, and where its plot is, in its own units. */
  const drawingOf = (picture) => {
    const svg = [...picture.querySelectorAll(":scope > svg")].find((one) => one.getClientRects().length > 0);
    if (svg === undefined) return null;
    const [left, top, right, bottom] = svg.dataset.plot.split(" ").map(Number);
    return { svg, left, top, right, bottom, box: svg.getBoundingClientRect(), view: svg.viewBox.baseVal };
  };

  const writeTimes = (svg, from, to) => {
    const below = svg.querySelector(".times");
    const [left, , right] = svg.dataset.plot.split(" ").map(Number);
    if (below.whole === undefined) below.whole = [...below.childNodes];
    if (from === 0 && to === below.across) return below.replaceChildren(...below.whole);
    const y = below.whole[0].getAttribute("y"), most = right - left > 500 ? 6 : 3;
    const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 15000, 30000, 60000, 120000,
      300000, 600000, 1800000, 3600000, 7200000, 21600000, 43200000, 86400000];
    const step = steps.find((one) => (to - from) / one <= most) ?? (to - from) / most;
    const labels = [];
    for (let ms = Math.ceil(from / step) * step; ms <= to; ms += step) {
      const label = below.whole[0].cloneNode(true);
      label.setAttribute("x", left + ((ms - from) / (to - from)) * (right - left));
      label.setAttribute("y", y);
      label.setAttribute("text-anchor", "middle");
      label.textContent = time(ms);
      labels.push(label);
    }
    below.replaceChildren(...labels);
  };

  /** Pictures of the same length show the same run: they are zoomed together. */
  const zoomTo = (across, from, to) => {
    const zoom = zooms.get(across);
    const length = Math.min(across, Math.max(to - from, across / 200));
    zoom.from = Math.min(Math.max(0, from), across - length);
    zoom.to = zoom.from + length;
    for (const picture of zoom.pictures) {
      picture.classList.toggle("zoomed", length < across);
      for (const svg of picture.querySelectorAll(":scope > svg")) {
        const plot = svg.querySelector(".plot"), [left, , right] = svg.dataset.plot.split(" ").map(Number);
        const scale = (right - left) / across;
        plot.setAttribute("viewBox", [left + zoom.from * scale, 0, length * scale, svg.viewBox.baseVal.height].join(" "));
        svg.querySelector(".times").across = across;
        writeTimes(svg, zoom.from, zoom.to);
      }
    }
  };

  const start = (picture) => {
    const readings = JSON.parse(picture.dataset.readings);
    const { across, names, words } = readings;
    const points = readings.points.map((point) => (readings.flat ? [point[0], null, ...point.slice(1)] : point));
    const zoomable = readings.time && picture.querySelector(".plot") !== null;
    const rule = make(picture, "div", "rule");
    const note = make(picture, "div", "reading");
    const picked = make(picture, "div", "picked");
    note.setAttribute("role", "status");
    let current = -1, dragged = null;
    const view = () => (zoomable ? zooms.get(across) : { from: 0, to: across });

    const hide = () => {
      current = -1;
      rule.style.display = note.style.display = picked.style.display = "none";
    };
    const show = (index) => {
      const drawing = drawingOf(picture), point = points[index];
      if (drawing === null || point === undefined) return hide();
      current = index;
      const { from, to } = view(), { box, view: size, left, top, right, bottom } = drawing;
      const scale = box.width / size.width, home = picture.getBoundingClientRect();
      const offset = { x: box.left - home.left, y: box.top - home.top };
      const x = point[0] === null ? null : offset.x + (left + ((point[0] - from) / (to - from)) * (right - left)) * scale;
      const y = point[1] === null ? null : offset.y + (top + (point[1] / 1000) * (bottom - top)) * scale;
      rule.style.display = "block";
      rule.style.left = (x ?? offset.x + left * scale) + "px";
      rule.style.top = (y === null ? offset.y + top * scale : y - 6) + "px";
      rule.style.height = (y === null ? (bottom - top) * scale : 12) + "px";
      rule.style.width = x === null ? (right - left) * scale + "px" : "0";
      note.replaceChildren();
      if (readings.time) make(note, "b", "", time(point[0]));
      for (const [place, name] of names.entries()) {
        const word = words[point[place + 2]];
        if (word === undefined) continue;
        const line = make(note, "div", "");
        make(line, "span", "", name);
        make(line, "b", "", word);
      }
      note.style.display = "block";
      const beside = x ?? offset.x + ((left + right) / 2) * scale;
      note.style.left = Math.max(0, beside + 12 + note.offsetWidth > home.width ? beside - 12 - note.offsetWidth : beside + 12) + "px";
      note.style.top = Math.max(0, (y ?? offset.y + top * scale) - (y === null ? 0 : note.offsetHeight + 10)) + "px";
    };
    /** Where the pointer is: x in the picture's own units, y in thousandths. */
    const place = (event) => {
      const drawing = drawingOf(picture);
      if (drawing === null) return null;
      const { box, view: size, left, top, right, bottom } = drawing, { from, to } = view();
      const scale = box.width / size.width;
      const x = ((event.clientX - box.left) / scale - left) / (right - left);
      const y = ((event.clientY - box.top) / scale - top) / (bottom - top);
      if (y < -0.15 || y > 1.15 || x < -0.2 || x > 1.02) return null;
      const inside = Math.min(1, Math.max(0, x));
      return { x: from + inside * (to - from), y: y * 1000, flat: ((right - left) / (bottom - top)) * 1000 };
    };
    const nearest = ({ x, y, flat }) => {
      const { from, to } = view();
      let best = -1, least = Infinity;
      for (const [index, point] of points.entries()) {
        if (point[0] !== null && (point[0] < from || point[0] > to) && readings.snap !== "before") continue;
        if (readings.snap === "before" && point[0] > x) continue;
        const dx = point[0] === null ? 0 : ((point[0] - x) / (to - from)) * flat;
        const dy = point[1] === null ? 0 : point[1] - y;
        const away = dx * dx + dy * dy;
        if (away <= least) [best, least] = [index, away];
      }
      return best;
    };
    const zoomBy = (factor) => {
      const { from, to } = view(), at = current < 0 ? (from + to) / 2 : points[current][0];
      const share = Math.min(1, Math.max(0, (at - from) / (to - from))), length = (to - from) * factor;
      zoomTo(across, at - share * length, at + (1 - share) * length);
      if (current >= 0) show(current);
    };
    /** The nearest point of the next row up or down. */
    const inRow = (step) => {
      const here = points[current] ?? points[0];
      let best = current, least = Infinity;
      for (const [index, point] of points.entries()) {
        const down = (point[1] - here[1]) * step;
        if (down <= 0) continue;
        const away = down * 1e6 + Math.abs((point[0] - here[0]) / across);
        if (away < least) [best, least] = [index, away];
      }
      return best;
    };
    const reach = (index) => {
      const { from, to } = view(), x = points[index]?.[0];
      if (zoomable && (x < from || x > to)) zoomTo(across, x - (to - from) / 2, x + (to - from) / 2);
      show(index);
    };

    picture.addEventListener("pointermove", (event) => {
      const at = place(event);
      if (dragged !== null && at !== null) {
        const home = picture.getBoundingClientRect();
        const [first, last] = [dragged.clientX, event.clientX].sort((a, b) => a - b);
        picked.style.cssText = "display:block;left:" + (first - home.left) + "px;width:" + (last - first) + "px";
      }
      if (at === null) hide();
      else show(nearest(at));
    });
    picture.addEventListener("pointerleave", hide);
    picture.addEventListener("blur", hide);
    picture.addEventListener("keydown", (event) => {
      const last = points.length - 1;
      const moves = {
        ArrowRight: () => reach(Math.min(last, current + 1)),
        ArrowLeft: () => reach(current < 0 ? last : Math.max(0, current - 1)),
        ArrowDown: () => reach(inRow(1)),
        ArrowUp: () => reach(inRow(-1)),
        Home: () => reach(0),
        End: () => reach(last),
        Escape: () => (zoomable && zooms.get(across).to - zooms.get(across).from < across ? zoomTo(across, 0, across) : hide()),
        ...(zoomable && { "+": () => zoomBy(0.5), "=": () => zoomBy(0.5), "-": () => zoomBy(2), 0: () => zoomTo(across, 0, across) }),
      };
      const vertical = event.key === "ArrowDown" || event.key === "ArrowUp";
      if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(moves, event.key)) return;
      if (vertical && points[0]?.[1] === null) return;
      event.preventDefault();
      moves[event.key]();
    });
    picture.tabIndex = 0;
    picture.setAttribute("role", "group");
    picture.setAttribute("aria-label", "Picture; the arrow keys read it" + (zoomable ? ", + and - zoom" : ""));
    if (!zoomable) return;

    const group = zooms.get(across) ?? { from: 0, to: across, pictures: [] };
    zooms.set(across, group);
    group.pictures.push(picture);
    picture.classList.add("zoomable");
    picture.previousElementSibling?.classList.add("beside-zoom");
    picture.addEventListener("pointerdown", (event) => {
      const at = place(event);
      if (event.button !== 0 || event.pointerType === "touch" || at === null || event.target.closest("button")) return;
      dragged = { clientX: event.clientX, x: at.x };
      event.preventDefault();
      picture.focus({ preventScroll: true, focusVisible: false });
    });
    addEventListener("pointerup", (event) => {
      if (dragged === null) return;
      const from = dragged, at = place(event);
      dragged = null;
      picked.style.display = "none";
      if (at === null || Math.abs(event.clientX - from.clientX) < 5) return;
      zoomTo(across, Math.min(from.x, at.x), Math.max(from.x, at.x));
      hide();
    });
    picture.addEventListener("dblclick", () => zoomTo(across, 0, across));
    const tools = make(picture, "div", "zoom");
    for (const [sign, title, act] of [
      ["+", "Zoom in", () => zoomBy(0.5)],
      ["−", "Zoom out", () => zoomBy(2)],
      ["Whole", "Show the whole time", () => zoomTo(across, 0, across)],
    ]) {
      const button = make(tools, "button", "", sign);
      button.type = "button";
      button.title = title;
      button.setAttribute("aria-label", title);
      button.tabIndex = -1;
      button.addEventListener("click", act);
    }
  };
  for (const picture of document.querySelectorAll(".picture[data-readings]")) start(picture);
})();
`;

/** SHA-256 of the script, for the page's policy. A test checks that they match. */
export const scriptHash = "sha256-vcMJwoEXDsGlEWrwdv3GIp07SibRFWP9NaUqKtsruqg=";
