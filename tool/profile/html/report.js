// SPDX-License-Identifier: MIT
//
// Shows the profile that stands in the page. Text of the profile goes into the page as text only,
// never as HTML.
"use strict";

const profile = JSON.parse(document.getElementById("profile").textContent);
const verdicts = JSON.parse(document.getElementById("verdicts").textContent);
const measured = !profile.source; // librelock alone measures no shares of time
const runtimeClasses = profile.classes.filter((c) => c.librelock);
// Of some of the runtime's locks there are only counts and the totals of the waits.
const untimed = (c) => c.librelock && !c.hold.count && c.acquisitions > 0;
const untimedClasses = runtimeClasses.filter(untimed);
const spread = measured || !untimedClasses.length;
for (const c of untimedClasses) {
  c.wait = {...c.wait, p50_ns : undefined, p90_ns : undefined, p99_ns : undefined, max_ns : undefined};
  c.hold = {count : 0, total_ns : 0, histogram : []};
}
const classOf = new Map(profile.classes.map((c) => [c.key, c]));

// Times of writers and readers together; percentiles of both cannot be had from those of each.
function times(c, kind) {
  if (!c.readers)
    return c[kind];
  const count = c[kind].count + c.readers[kind].count,
        total = c[kind].total_ns + c.readers[kind].total_ns;
  return {count, total_ns : total, mean_ns : ratio(total, count)};
}
const acquisitions = (c) => c.acquisitions + (c.readers ? c.readers.acquisitions : 0);
const contended = (c) => c.contended + (c.readers ? c.readers.contended : 0);
const classes = profile.classes.filter((c) => acquisitions(c) || c.trylock_failures);
const $ = (id) => document.getElementById(id);

// ---- Numbers, as in the terminal report

function digits(value) {
  return value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0);
}

function duration(ns) {
  if (ns === undefined)
    return "–";
  if (ns < 1e3)
    return Math.round(ns) + " ns";
  if (ns < 1e6)
    return digits(ns / 1e3) + " µs";
  if (ns < 1e9)
    return digits(ns / 1e6) + " ms";
  return digits(ns / 1e9) + " s";
}

function count(value) {
  if (value < 1e5)
    return String(Math.round(value));
  if (value < 1e6)
    return digits(value / 1e3) + " k";
  if (value < 1e9)
    return digits(value / 1e6) + " M";
  return digits(value / 1e9) + " G";
}

const ratio = (part, whole) => (whole ? part / whole : 0);

// Two bounds, or one figure where both say the same.
function range(least, most) {
  return least === most ? most : least + " to " + most;
}

function percent(share) {
  const value = 100 * share;
  return value.toFixed(value > 0 && value < 10 ? 2 : 1) + " %";
}

const plural = (n, one, many) => count(n) + " " + (n === 1 ? one : many);
const perSecond = (value) => ratio(value, profile.duration_ns / 1e9);
const sum = (list, of) => list.reduce((total, item) => total + of(item), 0);

// ---- Elements

// make("td", {class: "name"}, "text", element, …)
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (value !== undefined && value !== false)
      element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

function draw(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes))
    element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// A name that can be broken behind its dots and the like, and else only where nothing else helps.
function breakable(name) {
  return name.split(/(?<=[._:\/])(?=.)/).flatMap((part, i) => i ? [ make("wbr"), part ] : [ part ]);
}

function rows(body, list) { body.replaceChildren(...list); }

function bar(share, kind) {
  const filled = make("i");
  filled.style.width = 100 * Math.min(1, share) + "%";
  return make("span", {class : "bar " + kind}, share > 0 ? filled : undefined);
}

// One tooltip for everything that has a data-tip, by mouse and by keyboard.
function setUpTips() {
  const tip = $("tip");
  const hide = () => { tip.hidden = true; };
  const show = (event) => {
    const target = event.target.closest ? event.target.closest("[data-tip]") : null;
    if (!target)
      return hide();
    tip.textContent = target.dataset.tip;
    tip.hidden = false;
    const at = target.getBoundingClientRect();
    const left = Math.min(at.left, innerWidth - tip.offsetWidth - 8);
    const below = at.bottom + 6 + tip.offsetHeight < innerHeight;
    tip.style.left = Math.max(8, left) + "px";
    tip.style.top = (below ? at.bottom + 6 : Math.max(8, at.top - tip.offsetHeight - 6)) + "px";
  };
  document.addEventListener("mouseover", show);
  document.addEventListener("focusin", show);
  document.addEventListener("mouseout", hide);
  document.addEventListener("focusout", hide);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape")
      hide();
  });
}

// ---- Charts

const charts = new Set();
const color = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

function useColors() {
  Chart.defaults.color = color("muted");
  Chart.defaults.borderColor = color("line");
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
}

// `describe` gives the configuration anew when the color scheme changes. The arrow keys go from one
// value to the next, which is shown, and said.
function drawChart(canvas, label, describe) {
  const entry = {canvas, describe, chart : new Chart(canvas, describe()), at : -1};
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label + "; arrow keys go through its values");
  canvas.tabIndex = 0;
  canvas.addEventListener("keydown", (event) => {
    const last = entry.chart.data.labels.length - 1,
          to = {ArrowLeft : entry.at - 1, ArrowRight : entry.at + 1, Home : 0, End : last};
    if (!(event.key in to))
      return;
    event.preventDefault();
    entry.at = Math.max(0, Math.min(last, to[event.key]));
    showValue(entry.chart, entry.at);
  });
  canvas.addEventListener("blur", () => showValue(entry.chart, undefined));
  charts.add(entry);
  return entry;
}

function showValue(chart, at) {
  const active = at === undefined
                     ? []
                     : chart.data.datasets.map((_, datasetIndex) => ({datasetIndex, index : at}));
  const bar = active.length ? chart.getDatasetMeta(0).data[at] : {x : 0, y : 0};
  chart.setActiveElements(active);
  chart.tooltip.setActiveElements(active, {x : bar.x, y : bar.y});
  chart.update("none");
  const {title, body} = chart.tooltip;
  $("value").textContent =
      active.length ? [...title, ...body.flatMap((part) => part.lines) ].join(", ") : "";
}

function dropCharts(inside) {
  for (const entry of charts)
    if (inside.contains(entry.canvas)) {
      entry.chart.destroy();
      charts.delete(entry);
    }
}

function redrawCharts() {
  useColors();
  for (const entry of charts) {
    entry.chart.destroy();
    entry.chart = new Chart(entry.canvas, entry.describe());
  }
}

// The buckets of runtime/profiler/layout.h: one per value below 8, then 4 to every power of two.
const bucketFloors = Array.from({length : 180}, (_, i) => {
  const ticks = i < 8 ? i : (4 + ((i - 8) % 4)) * 2 ** (Math.floor((i - 8) / 4) + 1);
  return Math.round(ticks * (1e9 / (profile.machine.ticks_per_second || 1e9)));
});

function bucketOf(floor) {
  let best = 0;
  for (let i = 1; i < bucketFloors.length; i++)
    if (Math.abs(bucketFloors[i] - floor) < Math.abs(bucketFloors[best] - floor))
      best = i;
  return best;
}

function histogramChart(times, name) {
  const filled = times.histogram.map(([ floor, n ]) => [bucketOf(floor), n]);
  const first = Math.min(...filled.map(([ i ]) => i)), last = Math.max(...filled.map(([ i ]) => i));
  const counts = Array(last - first + 1).fill(0);
  for (const [i, n] of filled)
    counts[i - first] += n;
  const total = sum(counts, (n) => n);
  const range = (i) =>
      duration(bucketFloors[first + i]) + (first + i + 1 < bucketFloors.length
                                               ? " to " + duration(bucketFloors[first + i + 1])
                                               : " and more");
  return () => ({
           type : "bar",
           data : {
             labels : counts.map((_, i) => duration(bucketFloors[first + i])),
             datasets : [ {
               data : counts,
               backgroundColor : color(name),
               barPercentage : 1,
               categoryPercentage : 0.92,
               maxBarThickness : 40
             } ],
           },
           options : {
             scales : {
               x : {grid : {display : false}, ticks : {maxRotation : 0, autoSkipPadding : 14}},
               y : {
                 ticks : {callback : (n) => count(n), maxTicksLimit : 6, precision : 0},
                 beginAtZero : true
               },
             },
             interaction : {mode : "index", intersect : false},
             plugins : {
               legend : {display : false},
               tooltip : {
                 callbacks : {
                   title : ([ item ]) => range(item.dataIndex),
                   label : (item) => count(item.raw) + " (" + percent(ratio(item.raw, total)) + ")",
                   footer : ([ item ]) =>
                       percent(ratio(sum(counts.slice(0, item.dataIndex + 1), (n) => n), total)) +
                       " are as short or shorter",
                 },
               },
             },
           },
         });
}

// ---- The run

function ending() {
  const {ended, status} = profile.program;
  if (ended === "exit")
    return "exit status " + status;
  if (ended === "signal")
    return "ended by signal " + status;
  if (profile.runs > 1)
    return "which ended differently";
  return ended === "running" ? "was still running" : "ended in an unknown way";
}

function droppedText() {
  const names = {
    mutex_operations : "mutex operations",
    times : "times (the percentiles lack them)",
    nested_operations : "operations in signal handlers or the profiler",
    processes : "forked processes",
    edges : "waits (only for whom)",
  };
  const parts =
      Object.entries(profile.dropped)
          .filter(([, n ]) => n)
          .map(([ kind, n ]) => count(n) + " " + (names[kind] || kind.replaceAll("_", " ")));
  return parts.length ? parts.join(", ") : "nothing";
}

function figure(value, label, tip) {
  return make("div", {class : "figure", "data-tip" : tip, tabindex : tip ? 0 : undefined},
              make("strong", {}, value), make("span", {}, label));
}

function showRun() {
  const {program, machine} = profile;
  const name = (program.executable || program.command[0] || "").split("/").pop();
  $("title").textContent = "Locks of " + name;
  document.title = "Locks of " + name;
  $("run").textContent = [
    program.command.join(" "),
    profile.runs > 1 ? profile.runs + " runs together"
                     : "process " + program.pid + (program.forked ? " (forked)" : ""),
    duration(profile.duration_ns),
    plural(profile.threads, "thread", "threads") + " (" + count(profile.threads_at_once) +
        " at once)",
    ending(),
    machine.model + ", " + plural(machine.processors, "processor", "processors"),
  ].join(" · ");
}

function showFigures() {
  const acquired = sum(classes, acquisitions), waits = sum(classes, contended);
  const waited = sum(classes, (c) => times(c, "wait").total_ns), {overhead} = profile;
  const list = [];
  if (measured)
    list.push(
        figure(percent(ratio(profile.section_ns, profile.thread_ns)),
               "of the threads' time in critical sections",
               "Time in which a thread holds a lock or waits for one, each moment counted once: " +
                   duration(profile.section_ns) + " of " + duration(profile.thread_ns) +
                   " that all threads lived, asleep or not."));
  if (measured && profile.worked_ns) {
    const most = profile.worked_at_most_ns ?? profile.worked_ns;
    list.push(figure(range(percent(ratio(profile.section_ns, most)),
                           percent(profile.section_share_of_work)),
                     "of the time that the threads worked",
                     "The same, of " + range(duration(profile.worked_ns), duration(most)) +
                         ": processor time, waiting for mutexes and rwlocks, and sleep in " +
                         "sections, of which only the bounds are known: none, or all holds of 4 " +
                         "µs and more. The processors ran nothing for more than half of the time, " +
                         "so that threads that did not run slept."));
  }
  list.push(figure(duration(waited),
                   measured
                       ? percent(ratio(waited, profile.thread_ns)) + " of the threads' time waiting"
                       : "waiting, all threads together",
                   "From finding a lock taken until it is acquired, all threads together."));
  list.push(figure(count(acquired), count(perSecond(acquired)) + " acquisitions per second"));
  list.push(figure(percent(ratio(waits, acquired)), "of them had to wait"));
  if (measured) {
    const dropped = droppedText();
    list.push(figure(percent(ratio(overhead.total_ns, profile.thread_ns)),
                     "of the threads' time was the profiler",
                     digits(overhead.per_acquisition_ns) +
                         " ns per uncontended acquisition, " +
                         (overhead.holds_timed < overhead.holds
                              ? digits(overhead.untimed_acquisition_ns) +
                                    " ns where it is not timed, measured at the start of the " +
                                    "run; " + percent(overhead.holds_timed / overhead.holds) +
                                    " of the holds were timed, and stand for the others; "
                              : "measured at the start of the run; ") +
                         digits(overhead.hold_bias_ns) + " ns are taken out of each hold."));
    list.push(
        figure(dropped, dropped === "nothing" ? "was dropped" : "not recorded",
               "What the profiler found no room for, by kind."));
  }
  $("figures").replaceChildren(...list);
}

function showNotes() {
  const notes = [], unused = profile.classes.length - classes.length;
  if (!measured)
    notes.push(
        "These are the statistics of " + profile.source +
        " (RELOCK_STATS): " + (spread ? "" : "holds, percentiles and ") + "shares of the threads' " +
        "time were not measured, and only locks of librelock were profiled.");
  else if (!untimedClasses.length && runtimeClasses.length)
    notes.push(plural(runtimeClasses.length, "lock class is", "lock classes are") +
               " librelock's; in their sections, acquisition included: " +
               percent(ratio(profile.librelock_section_ns || 0, profile.thread_ns)) + " of the threads' " +
               "time, which is " +
               (profile.librelock_within ? "part of the time above."
                                         : "not in the time above unless one is inside the other."));
  else if (untimedClasses.length)
    notes.push(plural(untimedClasses.length, "lock class is", "lock classes are") +
               " librelock's, which measures total and mean waits: no holds, no percentiles, and " +
               "nothing of the time in critical sections. The waits of delegated sections contain " +
               "the section.");
  if (profile.foreign_releases)
    notes.push(plural(profile.foreign_releases, "release", "releases") +
               " by a thread that had not acquired the lock.");
  if (profile.event && profile.event.not_available)
    notes.push("Event " + profile.event.name + ": not available: " + profile.event.not_available +
               ".");
  else if (profile.event)
    notes.push("Event " + profile.event.name + ", counted in sections" +
               (profile.event.threads_not_counted
                    ? ", but not in " +
                          plural(profile.event.threads_not_counted, "thread", "threads")
                    : "") +
               ".");
  if (!classes.length)
    notes.push("No lock was acquired.");
  if (unused)
    notes.push(plural(unused, "lock class was", "lock classes were") + " never locked and " +
               (unused === 1 ? "is" : "are") + " not shown.");
  $("notes").replaceChildren(...notes.map((text) => make("li", {}, text)));
}

// ---- The ranking

const verdictByKey = new Map(verdicts ? verdicts.classes.map((v) => [v.key, v]) : []);
const verdictOf = (c) => verdictByKey.get(c.key);
const unlistedByKey = new Map(verdicts ? (verdicts.others || []).map((o) => [o.key, o]) : []);

const unlisted = (c) => unlistedByKey.get(c.key) || {};
const isConverted = (c) => Boolean(unlisted(c).converted || c.librelock);

// Of a class that the sources do not have.
function whyUnlisted(c) {
  if (isConverted(c))
    return "An earlier rewrite has converted it: relock_locks.h has its algorithm.";
  const why = unlisted(c).why;
  return "It is no lock class of the sources that were checked" + (why ? ": " + why : "") + ".";
}
const most = {
  wait : Math.max(1, ...classes.map((c) => times(c, "wait").total_ns)),
  hold : Math.max(1, ...classes.map((c) => times(c, "hold").total_ns)),
};

function amount(kind) {
  return (c) => kind === "hold" && untimed(c) ? "–" : make("div", {class : "amount"}, bar(times(c, kind).total_ns / most[kind], kind),
                     duration(times(c, kind).total_ns));
}

const time = (kind, member) =>
    ({value : (c) => times(c, kind)[member] || 0, show : (c) => duration(times(c, kind)[member])});
const columns = [
  {
    title : "Lock class",
    text : true,
    value : (c) => c.name,
    tip : "All locks of one declaration, as `relock check` names it."
  },
  {
    title : "Acquired",
    value : acquisitions,
    show : (c) => count(acquisitions(c)),
    tip : "Successful acquisitions."
  },
  {
    title : "Waited",
    value : (c) => ratio(contended(c), acquisitions(c)),
    show : (c) => percent(ratio(contended(c), acquisitions(c))),
    tip : "Share of the acquisitions that found the lock taken and had to wait."
  },
  {
    title : "Wait",
    value : (c) => times(c, "wait").total_ns,
    show : amount("wait"),
    tip : "From finding the lock taken until it is acquired; the sum."
  },
  {title : "mean", ...time("wait", "mean_ns"), tip : "Mean of the acquisitions that waited."},
  {title : "P99", ...time("wait", "p99_ns"), measured : spread, tip : "99 % of the waits were shorter."},
  {
    title : "Hold",
    value : (c) => times(c, "hold").total_ns,
    show : amount("hold"),
    measured : spread,
    tip : "From acquisition to release; the sum."
  },
  {title : "mean", ...time("hold", "mean_ns"), measured : spread, tip : "Mean of the holds."},
  {title : "P99", ...time("hold", "p99_ns"), measured : spread, tip : "99 % of the holds were shorter."},
  {
    title : "Algorithm",
    text : true,
    measured : runtimeClasses.length > 0,
    value : (c) => (c.librelock ? c.librelock.algorithm : ""),
    tip : "Of librelock."
  },
  {
    title : "Verdict",
    text : true,
    measured : Boolean(verdicts),
    value : (c) => (verdictOf(c) || {}).verdict || (isConverted(c) ? "converted" : ""),
    show : showVerdict,
    tip : "Of `relock check`: can the class be converted?"
  },
].filter((column) => column.measured !== false);

let order = {column : columns[3], up : false};
let opened = (sorted(classes)[0] || {}).key;

function showVerdict(c) {
  const verdict = verdictOf(c);
  if (!verdict)
    return make("span", {
      class : isConverted(c) ? "convert" : "unknown",
      "data-tip" : whyUnlisted(c)
    },
                isConverted(c) ? "converted" : "not in the sources");
  const first = verdict.reasons[0] || (verdict.held[0] || {reasons : []}).reasons[0];
  const sections = verdict.delegate + " of " + (verdict.delegate + verdict.hold + verdict.keep) +
                   " sections delegated";
  return make("span", {
    class : verdict.verdict,
    "data-tip" : sections + (first ? "\n" + first.message + " [" + first.code + "]" : "")
  },
              verdict.verdict === "convert" ? "converts" : "kept");
}

function sorted(list) {
  const {value, text} = order.column, sign = order.up ? 1 : -1;
  return [...list ].sort((a, b) => sign *
                                   (text ? value(a).localeCompare(value(b)) : value(a) - value(b)));
}

function matches(c) {
  const wanted = $("filter").value.trim().toLowerCase();
  return [ c.name, c.file, c.module ].some((text) => text.toLowerCase().includes(wanted));
}

function showHead() {
  rows($("classes").tHead, [ make("tr", {}, ...columns.map((column) => {
         const button = make("button", {type : "button", "data-tip" : column.tip}, column.title);
         button.addEventListener("click", () => {
           order = {column, up : order.column === column ? !order.up : Boolean(column.text)};
           showClasses();
         });
         const sort = order.column === column ? (order.up ? "ascending" : "descending") : undefined;
         return make("th", {class : column.text && "text", "aria-sort" : sort, scope : "col"},
                     button);
       })) ]);
}

function showRow(c) {
  const isOpen = opened === c.key;
  const button = make("button", {type : "button", "aria-expanded" : String(isOpen)}, c.name);
  button.addEventListener("click", () => {
    opened = isOpen ? undefined : c.key;
    showClasses();
  });
  const cells = columns.map((column, i) => i ? make("td", {class : column.text && "text"},
                                                    column.show ? column.show(c) : column.value(c))
                                             : make("td", {class : "name text"}, button));
  return make("tr", {class : isOpen && "open"}, ...cells);
}

function showClasses() {
  const focus = document.activeElement && document.activeElement.textContent;
  const body = $("classes").tBodies[0], list = sorted(classes.filter(matches));
  showHead();
  dropCharts(body);
  const charted = [];
  rows(body, list.flatMap((c) => (c.key === opened ? [ showRow(c), showDetails(c, charted) ]
                                                   : [ showRow(c) ])));
  for (const start of charted)
    start();
  $("shown").textContent = list.length === classes.length
                               ? plural(list.length, "class", "classes")
                               : list.length + " of " + plural(classes.length, "class", "classes");
  for (const button of $("classes").querySelectorAll("button"))
    if (button.textContent === focus)
      button.focus({preventScroll : true});
}

// ---- One class

function part(title, ...content) { return make("div", {}, make("h3", {}, title), ...content); }

function facts(list) {
  return make("dl", {},
              ...list.filter(([, value ]) => value)
                  .flatMap(([ name, value ]) => [make("dt", {}, name), make("dd", {}, value)]));
}

// Of holds that were not all timed.
function estimateLine(times) {
  const error = times.relative_standard_error;
  if (!(times.timed < times.count))
    return undefined;
  return make("p", {class : "hint"},
              "total " + duration(times.total_ns) + " and mean " + duration(times.mean_ns) +
                  " are estimates, standard error " +
                  (typeof error === "number" ? percent(error) : "not known") + ": " +
                  count(times.timed) + " of " + count(times.count) + " were timed");
}

// Of a class, or of the readers of one.
function timesPart(c, kind, charted, who) {
  const times = c[kind], canvas = make("canvas");
  const line =
      [
        [ "P50", times.p50_ns ], [ "P90", times.p90_ns ], [ "P99", times.p99_ns ],
        [ "longest", times.max_ns ]
      ].filter(([, ns ]) => ns !== undefined)
          .map(([ name, ns ]) => name + " " + duration(ns))
          .join(" · ");
  if (!times.histogram.length)
    return part((kind === "wait" ? "Waiting" : "Holding") + (who || ""),
                make("p", {class : "hint"},
                     times.count
                         ? duration(times.total_ns) + " in " + count(times.count) + ", mean " +
                               duration(times.mean_ns) + "; how they are spread was not measured."
                         : "None."));
  charted.push(() => drawChart(canvas, "Histogram of the " + kind + " times" + (who || ""),
                               histogramChart(times, kind)));
  return part((kind === "wait" ? "How long it was waited for" : "How long it was held") +
                  (who || ""),
              make("p", {class : "hint"}, line), estimateLine(times),
              make("div", {class : "chart"}, canvas));
}

// Where the thread was that had the lock before, nearest first.
function distances(from) {
  const names = {
    same_core : "on the same core",
    same_cache : "below the same cache",
    same_node : "on the same node",
    other_node : "on another node",
    unknown : "at unknown distance"
  };
  return Object.keys(names)
      .filter((name) => from[name])
      .map((name) => count(from[name]) + " " + names[name])
      .join(", ");
}

function countsPart(c) {
  const library = c.librelock || {};
  return part("Counts", facts([
                [
                  "acquisitions",
                  count(c.acquisitions) + " (" + count(perSecond(c.acquisitions)) + " per second)"
                ],
                [ "had to wait", count(c.contended) ],
                [
                  "readers", c.readers && count(c.readers.acquisitions) + ", " +
                                              count(c.readers.contended) + " of them had to wait"
                ],
                [
                  "found waiting already",
                  c.waiters && c.waiters.max &&
                      digits(c.waiters.mean) + " threads in the mean, " + c.waiters.max + " at most"
                ],
                [
                  "readers found waiting already",
                  c.readers && c.readers.waiters && c.readers.waiters.max &&
                      digits(c.readers.waiters.mean) + " threads in the mean, " +
                          c.readers.waiters.max + " at most"
                ],
                [ "handed to another thread", c.handovers && count(c.handovers) ],
                [ "which was", c.came_from && distances(c.came_from) ],
                [ "trylocks failed", c.trylock_failures && count(c.trylock_failures) ],
                [ "timed out", c.timeouts && count(c.timeouts) ],
                [ "condition waits", c.condition_waits && count(c.condition_waits) ],
                [ "recursive", c.reentries && count(c.reentries) ],
                [
                  profile.event && profile.event.name + " per section",
                  [[c.events, c.readers ? "writers' " : ""], [c.readers && c.readers.events, "readers' "]]
                      .filter(([ events ]) => events)
                      .map(([ events, whose ]) => digits(events.per_section) + " (" + whose +
                                                  plural(events.samples, "section", "sections") +
                                                  " counted)")
                      .join(", ")
                ],
                [ "locks of the class", count(c.objects) ],
                [ "held at the end", c.held_at_end && count(c.held_at_end) ],
                [ "algorithm", library.algorithm ],
                [
                  "executed, delegated",
                  library.executed && count(library.executed) + ", " + count(library.delegated)
                ],
              ]));
}

function placePart(c) {
  const stack = c.backtrace || [];
  return part("Where it comes from", facts([
                [ "declared or made in", c.file && c.file + (c.line ? ":" + c.line : "") ],
                [ "module", c.module ],
                [ "kind", [ c.primitive, c.kind ].filter(Boolean).join(", ") ],
                [ "key", c.key ],
              ]),
              stack.length
                  ? make("ol", {class : "stack"}, ...stack.map((frame) => make("li", {}, frame)))
                  : undefined);
}

function reasonLine(reason) {
  return make("li", {}, reason.message + " ",
              make("code", {}, "[" + reason.code + "] " + reason.location));
}

function verdictPart(c) {
  const verdict = verdictOf(c);
  if (!verdict)
    return part("Verdict of relock check", make("p", {class : "hint"}, whyUnlisted(c)));
  const held =
      verdict.held.map((s) => make("li", {}, s.function + " (" + s.location + ") " + s.verdict,
                                   make("ul", {}, ...s.reasons.map(reasonLine))));
  const more = verdict.hold + verdict.keep - held.length;
  return part("Verdict of relock check",
              make("p", {class : verdict.verdict},
                   verdict.verdict === "convert" ? "Converts" : "Kept as it is",
                   verdict.name !== c.name ? ", as part of " + verdict.name : ""),
              facts([
                [ "declaration", verdict.declaration ],
                [
                  "sections", verdict.delegate + " delegated, " + verdict.hold + " held, " +
                                  verdict.keep + " kept"
                ],
                [
                  "shared cache lines per section",
                  verdict.shared_lines && "about " + digits(verdict.shared_lines.per_section) +
                                              ", estimated from the source of " +
                                              verdict.shared_lines.known + " of " +
                                              verdict.shared_lines.sections
                ]
              ]),
              make("ul", {}, ...verdict.reasons.map(reasonLine), ...held),
              more > 0 ? make("p", {class : "hint"},
                              plural(more, "more section", "more sections") +
                                  " not delegated; `relock check` lists all.")
                       : undefined);
}

// A column has a title, `text` where it is no number, `value` of an item, to sort by, and what to
// `show` of it. The list is as it comes until somebody asks for another order.
function fillTable(table, columns, list, attributes) {
  const order = {column : undefined, up : false};
  const head = table.tHead || table.appendChild(make("thead")),
        body = table.tBodies[0] || table.appendChild(make("tbody"));
  const compare = (a, b) => {
    const x = order.column.value(a), y = order.column.value(b);
    return (order.up ? 1 : -1) * (order.column.text ? x.localeCompare(y) : x - y);
  };
  const kind = (column) => column.text ? "text long" : undefined;
  const fill = () => {
    const focused = [...head.querySelectorAll("button") ].indexOf(document.activeElement);
    rows(head, [ make("tr", {}, ...columns.map((column) => {
           const sort = order.column === column ? (order.up ? "ascending" : "descending")
                                                : undefined;
           const title = column.value
                             ? make("button", {type : "button", "data-tip" : column.tip},
                                    ...breakable(column.title))
                             : column.title;
           if (column.value)
             title.addEventListener("click", () => {
               order.up = order.column === column ? !order.up : Boolean(column.text);
               order.column = column;
               fill();
             });
           return make("th", {class : kind(column), "aria-sort" : sort, scope : "col"}, title);
         })) ]);
    rows(body, (order.column ? [...list ].sort(compare) : list)
                   .map((item) => make("tr", {}, ...columns.map((column) => {
                     const shown = column.show ? column.show(item) : column.value(item);
                     if (shown instanceof HTMLTableCellElement)
                       return shown;
                     return make("td", {class : kind(column)}, shown);
                   }))));
    const button = head.querySelectorAll("button")[focused];
    if (button)
      button.focus({preventScroll : true});
  };
  for (const [name, value] of Object.entries(attributes || {}))
    table.setAttribute(name, value);
  fill();
  return table;
}

function table(label, columns, list) {
  return make("div", {class : "scroll"},
              fillTable(make("table"), columns, list, {"aria-label" : label}));
}

const text = (title, value, show) => ({title, text : true, value, show});
const numeric = (title, value, show) =>
    ({title, value, show : (item) => show(value(item))});

function wide(element) {
  element.classList.add("wide");
  return element;
}

function locksPart(c) {
  const left = c.locks_omitted ? " " + count(c.locks_omitted) + " cheaper ones are left out." : "";
  return wide(part("Its locks that lived at the end",
                   left ? make("p", {class : "hint"}, left) : undefined,
                   table("Locks of " + c.name,
                         [
                           text("Lock", (l) => l.name),
                           numeric("Acquired", (l) => l.acquisitions, count),
                           numeric("Waited", (l) => ratio(l.contended, l.acquisitions), percent),
                           numeric("Wait", (l) => l.wait_ns, duration),
                           numeric("Hold", (l) => l.hold_ns, duration),
                         ],
                         c.locks)));
}

function sitesPart(c) {
  const list = [...c.sites ].sort((a, b) => b.wait_ns - a.wait_ns || b.hold_ns - a.hold_ns);
  const samples = sum(list, (s) => s.samples || 0);
  const hint =
      (samples ? "Estimated from " + plural(samples, "sample", "samples") + ". " : "") +
      (c.sites_omitted ? plural(c.sites_omitted, "cheaper call site is", "cheaper call sites are") +
                             " left out."
                       : "");
  const call = (s) => make("div", {class : "stack"},
                           ...s.stack.map((frame) => make("div", {}, frame)),
                           c.readers ? s.reading ? "to read" : "to write" : undefined);
  return wide(part("Where it is taken", hint ? make("p", {class : "hint"}, hint) : undefined,
                   table("Call sites of " + c.name,
                         [
                           text("Call site", (s) => s.stack.join(" "), call),
                           numeric("Acquired", (s) => s.acquisitions, count),
                           numeric("Waited", (s) => s.contended, count),
                           numeric("Wait", (s) => s.wait_ns, duration),
                           numeric("Hold", (s) => s.hold_ns, duration),
                         ],
                         list)));
}

function showDetails(c, charted) {
  const kinds = !untimed(c) ? [ "wait", "hold" ] : [ "wait" ];
  const parts = kinds.map((kind) => timesPart(c, kind, charted, c.readers && ", by writers"));
  if (c.readers)
    parts.push(...kinds.map((kind) => timesPart(c.readers, kind, charted, ", by readers")));
  parts.push(countsPart(c), placePart(c));
  if (verdicts)
    parts.push(verdictPart(c));
  if (c.sites && c.sites.length)
    parts.push(sitesPart(c));
  if (c.locks && c.locks.length > 1)
    parts.push(locksPart(c));
  return make("tr", {class : "details"},
              make("td", {colspan : columns.length}, make("div", {class : "panel"}, ...parts)));
}

// ---- What profiles may have besides

const palette =
    [ "#4dabf7", "#ff922b", "#69db7c", "#da77f2", "#f06595", "#ffd43b", "#38d9a9", "#a9a2f5" ];

// Of which every wait was counted: in each interval, how long all threads together waited.
function countedOverTime() {
  const over = profile.waiting_over_time;
  if (!over || !over.interval_ns || !over.classes.length)
    return undefined;
  const span = over.interval_ns, columns = Math.max(...over.classes.map((c) => c.wait_ns.length));
  const byKey = new Map(over.classes.map(
      (c) => [c.key || "other", Array.from({length : columns}, (_, i) => c.wait_ns[i] || 0)]));
  const counted = sum([...byKey.values() ], (list) => sum(list, (ns) => ns));
  const all = sum(classes, (c) => times(c, "wait").total_ns), missing = 1 - ratio(counted, all);
  return {
    span,
    columns,
    byKey,
    hint : " Every wait counts, in " + plural(columns, "interval", "intervals") + " of " +
               duration(span) + "." +
               (missing > 0.02 ? " Of " + percent(missing) + " of the waiting it is not known when it was."
                               : "")
  };
}

// Of each length only the latest waits are kept: from when on they are all there.
function keptSince(waits) {
  const ring = 500, rings = new Map();
  for (const wait of waits) {
    const ticks = Math.max(1, wait.wait_ns * (profile.machine.ticks_per_second || 1e9) / 1e9),
          power = Math.max(10, Math.floor(Math.log2(ticks)));
    rings.set(power, [...(rings.get(power) || []), wait.start_ns ]);
  }
  return Math.max(0, ...[...rings.values() ]
                         .filter((starts) => starts.length >= ring - 1)
                         .map((starts) => Math.min(...starts)));
}

// Of a profile without that: from single waits, of which many may be missing.
function keptOverTime() {
  const waits = profile.timeline || [], columns = 120, span = profile.duration_ns / columns;
  if (!waits.length || !span)
    return undefined;
  const byKey = new Map();
  for (const wait of waits) {
    if (!byKey.has(wait.key))
      byKey.set(wait.key, Array(columns).fill(0));
    const values = byKey.get(wait.key), end = wait.start_ns + wait.wait_ns;
    for (let i = Math.max(0, Math.floor(wait.start_ns / span)); i < columns && i * span < end; i++)
      values[i] += Math.min(end, (i + 1) * span) - Math.max(wait.start_ns, i * span);
  }
  const since = profile.runs > 1 ? 0 : keptSince(waits);
  return {
    span,
    columns,
    byKey,
    hint : profile.timeline_omitted
               ? " It shows the " + plural(waits.length, "wait", "waits") +
                     " that were kept, of each length the latest; " +
                     count(profile.timeline_omitted) + " others are missing." +
                     (since ? " From " + duration(since) + " on it is complete; what looks like a " +
                                  "rise before that is none."
                            : "")
               : ""
  };
}

// Columns of equal time, in each how many threads waited for a class on average.
function showWaiting() {
  const found = countedOverTime() || keptOverTime();
  if (!found)
    return;
  const {span, columns, byKey, hint} = found, cost = (key) => sum(byKey.get(key), (ns) => ns);
  const keys = [...byKey.keys() ].filter((key) => key !== "other").sort((a, b) => cost(b) - cost(a)),
        shown = keys.slice(0, palette.length - 1);
  const width = (i) => Math.max(span / 100, Math.min(span, profile.duration_ns - i * span));
  const series = new Map(shown.map((key) => [key, byKey.get(key).map((ns, i) => ns / width(i))]));
  const rest = [...byKey.keys() ].filter((key) => !series.has(key));
  if (rest.length)
    series.set("other", Array.from({length : columns},
                                   (_, i) => sum(rest, (key) => byKey.get(key)[i]) / width(i)));
  const name = (key) =>
      (key === "other" ? "other classes" : (classOf.get(key) || {name : key}).name);
  $("waiting").hidden = false;
  if (profile.runs > 1)
    $("waiting").querySelector(".hint").append(" The runs stand one after another.");
  $("waiting").querySelector(".hint").append(hint);
  drawChart($("waiting").querySelector("canvas"), "Threads that waited, over the time of the run",
            () => ({
              type : "bar",
              data : {
                labels : Array.from({length : columns}, (_, i) => duration(i * span)),
                datasets : [...series ].map(([ key, data ], i) => ({
                                              label : name(key),
                                              data,
                                              backgroundColor : palette[i],
                                              barPercentage : 1,
                                              categoryPercentage : 1
                                            })),
              },
              options : {
                scales : {
                  x : {
                    stacked : true,
                    grid : {display : false},
                    ticks : {maxRotation : 0, autoSkipPadding : 20}
                  },
                  y : {
                    stacked : true,
                    beginAtZero : true,
                    title : {display : true, text : "threads waiting"}
                  },
                },
                interaction : {mode : "index", intersect : false},
                plugins : {
                  tooltip : {
                    filter : (item) => item.raw > 0,
                    callbacks : {label : (item) => item.dataset.label + ": " + digits(item.raw)}
                  }
                },
              },
            }));
}

// As ThreadNames.h has them: no two threads have the same one.
const threadLabels = (() => {
  const threads = [...(profile.by_thread || []) ].sort((a, b) => a.id - b.id);
  const named = (thread, name) => (thread.run || 0) + ":" + name, uses = new Map(),
        numbers = new Map();
  for (const thread of threads)
    uses.set(named(thread, thread.name), (uses.get(named(thread, thread.name)) || 0) + 1);
  return new Map(threads.map((thread) => {
    const own = named(thread, thread.name);
    let name = thread.name || "thread #" + thread.id;
    if (thread.name && uses.get(own) > 1)
      do {
        numbers.set(own, (numbers.get(own) || 0) + 1);
        name = thread.name + " " + numbers.get(own);
      } while (uses.has(named(thread, name)));
    return [ thread.id, (thread.run ? "run " + thread.run + ": " : "") + name ];
  }));
})();
const threadLabel = (id) => threadLabels.get(id) || "thread #" + id;

// One cell of a table can be reached by Tab, and the others from there by the arrow keys.
function moveByArrows(table) {
  const cells = (row) => [...row.querySelectorAll("td.cell") ];
  const enter = () => {
    const first = table.querySelector("td.cell");
    if (first && !table.querySelector("td.cell[tabindex='0']"))
      first.tabIndex = 0;
  };
  enter();
  if (table.dataset.arrows)
    return;
  table.dataset.arrows = "yes";
  table.addEventListener("click", enter); // sorting makes new cells
  table.addEventListener("keydown", (event) => {
    const step = {
      ArrowLeft : [ 0, -1 ],
      ArrowRight : [ 0, 1 ],
      ArrowUp : [ -1, 0 ],
      ArrowDown : [ 1, 0 ]
    }[event.key];
    const at = event.target.closest("td.cell");
    if (!step || !at)
      return;
    const all = [...table.tBodies[0].rows ], row = all[all.indexOf(at.parentNode) + step[0]];
    const next = row && cells(row)[cells(at.parentNode).indexOf(at) + step[1]];
    event.preventDefault();
    if (!next)
      return;
    at.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}

// The costliest threads and classes; the shade says how much of the largest value a cell has.
function showThreads() {
  const all = profile.by_thread || [], threads = all.slice(0, 60), member = $("measure").value;
  if (!threads.length)
    return;
  const cost = new Map();
  for (const thread of threads)
    for (const used of thread.classes)
      cost.set(used.key, (cost.get(used.key) || 0) + used[member]);
  const keys = [...cost.keys() ].sort((a, b) => cost.get(b) - cost.get(a)).slice(0, 12);
  const largest = Math.max(1, ...threads.flatMap((t) => t.classes.map((used) => used[member])));
  const show = member === "acquisitions" ? count : duration;
  const name = (key) => (classOf.get(key) || {name : key}).name;
  const left = all.length - threads.length + (profile.threads_omitted || 0);
  $("threads").hidden = false;
  $("left").textContent =
      left ? "The " + (threads.length === 1 ? "thread" : threads.length + " threads") +
                 " that waited longest; " + count(left) + " more are left out."
           : "";
  const used = (thread, key) => thread.classes.find((entry) => entry.key === key);
  const cell = (thread, key) => {
    const entry = used(thread, key), label = threadLabel(thread.id) + ", " + name(key);
    if (!entry)
      return make("td", {class : "cell", tabindex : -1, "data-tip" : label + "\nnever used"});
    const td = make("td", {
      class : "cell",
      tabindex : -1,
      "data-tip" : label + "\nacquired " + (entry.timed < entry.acquisitions ? "about " : "") +
                       count(entry.acquisitions) + ", waited " + duration(entry.wait_ns) +
                       ", held " + duration(entry.hold_ns)
    },
                    entry[member] ? show(entry[member]) : "–");
    td.style.background = "color-mix(in srgb, var(--" + (member === "hold_ns" ? "hold" : "wait") +
                          ") " + Math.round(65 * Math.sqrt(entry[member] / largest)) +
                          "%, transparent)";
    return td;
  };
  fillTable($("matrix"),
            [
              text("Thread", (thread) => threadLabel(thread.id)),
              numeric("lived", (thread) => thread.lived_ns, duration),
              numeric("in sections", (thread) => ratio(thread.section_ns, thread.lived_ns), percent),
              numeric("waited", (thread) => thread.wait_ns, duration),
              ...keys.map((key) => ({
                            title : name(key),
                            value : (thread) => (used(thread, key) || {[member] : -1})[member],
                            show : (thread) => cell(thread, key)
                          })),
            ],
            threads, {"aria-label" : "Threads and locks"});
  moveByArrows($("matrix"));
}

function showWaitedFor() {
  const edges = profile.waited_for || [], shown = edges.slice(0, 100),
        largest = Math.max(1, ...edges.map((edge) => edge.wait_ns));
  if (!edges.length)
    return;
  const left = edges.length - shown.length + (profile.waited_for_omitted || 0);
  $("edges-of-waiting").hidden = false;
  if (left)
    $("edges-of-waiting").querySelector(".hint").append(" " + count(left) +
                                                        " more pairs are left out.");
  fillTable($("blocked"),
            [
              text("Waiter", (edge) => threadLabel(edge.waiter)),
              text("waited for",
                   (edge) => edge.holder ? threadLabel(edge.holder) : "unknown, or readers"),
              text("because of", (edge) => (classOf.get(edge.key) || {name : edge.key}).name),
              numeric("waits", (edge) => edge.count, count),
              {
                title : "wait",
                value : (edge) => edge.wait_ns,
                show : (edge) => make("div", {class : "amount"},
                                      bar(edge.wait_ns / largest, "wait"), duration(edge.wait_ns))
              },
              numeric("mean", (edge) => ratio(edge.wait_ns, edge.count), duration),
            ],
            shown, {"aria-label" : "Who waited for whom"});
}

// The classes on a circle, an arrow from what is held to what is then taken.
function drawNesting(edges, isBoth) {
  const all = [...new Set(edges.flatMap((edge) => [edge.outer, edge.inner])) ],
        nodes = all.slice(0, 16);
  const radius = 60 + 8 * nodes.length, width = 760, height = 2 * radius + 70,
        middle = [ width / 2, height / 2 ];
  const at = (node, r) => {
    const angle = (2 * Math.PI * nodes.indexOf(node)) / nodes.length - Math.PI / 2;
    return [ middle[0] + r * Math.cos(angle), middle[1] + r * Math.sin(angle) ];
  };
  const arrow = (id, fill) => draw("marker", {
    id,
    viewBox : "0 0 8 8",
    refX : 8,
    refY : 4,
    markerWidth : 8,
    markerHeight : 8,
    markerUnits : "userSpaceOnUse",
    orient : "auto"
  },
                                   draw("path", {d : "M0 0 8 4 0 8Z", class : fill}));
  const lines =
      edges.filter((e) => e.inner !== e.outer && nodes.includes(e.inner) && nodes.includes(e.outer))
          .map((edge) => {
            const [x, y] = at(edge.outer, radius - 6), [ u, v ] = at(edge.inner, radius - 10),
                      kind = isBoth(edge) ? "both" : "once";
            const bend = 0.16; // to one side, so that both directions can be seen
            const [p, q] = [ (x + u) / 2 - bend * (v - y), (y + v) / 2 + bend * (u - x) ];
            return draw("path", {
              d : `M${x} ${y}Q${p} ${q} ${u} ${v}`,
              class : "edge " + kind,
              "marker-end" : `url(#${kind})`,
              "stroke-width" : (1 + Math.log10(edge.count) / 2).toFixed(1),
              tabindex : 0,
              role : "img",
              "data-tip" : edge.outer.name + " held, " + edge.inner.name +
                               " taken: " + plural(edge.count, "time", "times"),
              "aria-label" : edge.outer.name + " held, " + edge.inner.name +
                                 " taken: " + plural(edge.count, "time", "times")
            });
          });
  const labels = nodes.map((node) => {
    const [x, y] = at(node, radius), [ u, v ] = at(node, radius + 12),
              side = Math.abs(x - middle[0]) < 1 ? "middle"
                     : x < middle[0]             ? "end"
                                                 : "start";
    const short = node.name.length > 34 ? node.name.slice(0, 33) + "…" : node.name;
    return draw(
        "g", {"data-tip" : node.name}, draw("circle", {cx : x, cy : y, r : 5, class : "node"}),
        draw("text", {x : u, y : v + (v < middle[1] ? 0 : 9), "text-anchor" : side}, short));
  });
  if (all.length > nodes.length)
    lines.push(draw("text", {x : 8, y : height - 8, class : "more"},
                    "and " + (all.length - nodes.length) + " more classes"));
  return draw("svg", {
    viewBox : `0 0 ${width} ${height}`,
    role : "group",
    "aria-label" : "Which lock classes are taken while which are held"
  },
              draw("defs", {}, arrow("once", "once"), arrow("both", "both")), ...lines, ...labels);
}

// How often a class was acquired, other than by trylock, while the one of that key was held:
// [whether the inner one was taken for reading][the same of the outer one].
function orderOf(inner, key) {
  const times = (list) => sum((list || []).filter((edge) => edge.key === key), (edge) => edge.count);
  const read = (inner.read_inside || []).find((edge) => edge.key === key) ||
               {inner : 0, outer : 0, both : 0};
  const waited = times(inner.inside) - times(inner.tried_inside);
  return [[ waited - read.inner - read.outer - read.both, read.outer ], [ read.inner, read.both ]];
}

// A thread of each order can have what the other one waits for: not by reading what it reads.
function lockUp(order, other) {
  const modes = [ 0, 1 ].flatMap((inner) => [0, 1].map((outer) => [inner, outer]));
  return modes.some(([ inner, outer ]) => modes.some(([ otherInner, otherOuter ]) =>
                        order[inner][outer] && other[otherInner][otherOuter] &&
                        !(outer && otherInner) && !(otherOuter && inner)));
}

// `inside` of a class names those that were held when it was acquired.
function showNesting() {
  const edges = classes
                    .flatMap((inner) => (inner.inside || []).map((edge) => ({
                      inner,
                      outer : classOf.get(edge.key) || {key : edge.key, name : edge.key},
                      count : edge.count
                    })))
                    .sort((a, b) => b.count - a.count);
  if (!edges.length)
    return;
  const isBoth = ({inner, outer}) =>
      inner !== outer && lockUp(orderOf(inner, outer.key), orderOf(outer, inner.key));
  const largest = edges[0].count;
  $("nesting").hidden = false;
  $("graph").replaceChildren(drawNesting(edges, isBoth));
  if (edges.length > 100)
    $("nesting").append(
        make("p", {class : "hint"}, "The 100 most frequent of " + count(edges.length) + " pairs."));
  const both = "also taken in the other order: threads can wait for each other for ever";
  fillTable($("edges"),
            [
              text("Held", (edge) => edge.outer.name),
              text("and then taken", (edge) => edge.inner.name),
              {
                title : "times",
                value : (edge) => edge.count,
                show : (edge) => make("div", {class : "amount"},
                                      bar(edge.count / largest, "hold"), count(edge.count))
              },
              {
                title : "order",
                text : true,
                value : (edge) => isBoth(edge) ? both : "",
                show : (edge) => make("span", {class : "keep"}, isBoth(edge) ? both : "")
              },
            ],
            edges.slice(0, 100), {"aria-label" : "Taken while another is held"});
}

// The calls that waited longest, innermost frames first.
function waitingCalls(w) {
  return (w.sites || [])
      .slice(0, 3)
      .map((s) => make("div", {}, duration(s.wait_ns) + " " + s.stack.join(" < ")));
}

// What is no lock: conditions, semaphores, barriers, raw futexes.
function showOthers() {
  const others = (profile.waits || []).filter((w) => w.acquisitions || w.wait.total_ns);
  if (!others.length)
    return;
  $("others").hidden = false;
  $("others").append(table(
      "Other waiting",
      [
        text("Waited for", (w) => w.name),
        text("What it is", (w) => w.primitive || ""),
        numeric("Waits", (w) => w.acquisitions, count),
        numeric("Wait", (w) => w.wait.total_ns, duration),
        numeric("mean", (w) => w.wait.mean_ns, duration),
        numeric("P99", (w) => w.wait.p99_ns, duration),
        numeric("longest", (w) => w.wait.max_ns, duration),
        text("Mostly in", (w) => ((w.sites || [])[0] || {stack : []}).stack.join(" "),
             (w) => make("div", {class : "stack"}, ...waitingCalls(w))),
      ],
      others));
}

function showServers() {
  const servers = profile.servers || [];
  if (!servers.length)
    return;
  $("servers").hidden = false;
  const optional = (title, member, none) => ({
    title,
    value : (s) => s[member] === null ? -1 : s[member],
    show : (s) => s[member] === null ? none : count(s[member])
  });
  $("servers").append(table(
      "Servers of librelock",
      [
        numeric("Server", (s) => s.number, String),
        numeric("Sections", (s) => s.sections, count),
        numeric("Use", (s) => s.use_rate, percent),
        numeric("False serialization", (s) => s.false_serialization, percent),
        numeric("Slow", (s) => s.slow_rate, percent),
        numeric("Manager woken", (s) => s.manager_wakes, count),
        numeric("Activations", (s) => s.activations, count),
        numeric("Sleeps", (s) => s.sleeps, count),
        optional("Cache misses", "cache_misses", "–"),
        numeric("Threads", (s) => s.threads, count),
        optional("CPU", "cpu", "any"),
        text("FIFO", (s) => s.fifo ? "yes" : "no"),
      ],
      servers));
}

useColors();
setUpTips();
showRun();
showFigures();
showNotes();
showClasses();
showWaiting();
showThreads();
showWaitedFor();
showNesting();
showOthers();
showServers();
$("filter").addEventListener("input", showClasses);
$("measure").addEventListener("change", showThreads);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawCharts);
// Paper is light, whatever the screen is.
for (const [event, on] of [[ "beforeprint", true ], [ "afterprint", false ]])
  addEventListener(event, () => {
    document.documentElement.classList.toggle("paper", on);
    redrawCharts();
  });
