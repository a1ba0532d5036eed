/** The style sheet of all pages, inline, so that a page loads nothing else. */
export const styles = `
:root {
  color-scheme: light dark;
  --paper: #fbfaf6; --card: #ffffff; --grid: rgb(30 64 120 / .055); --ink: #14233d; --muted: #50607a;
  --line: #d3dae6; --field-line: #8793a8; --press: #b8480f; --press-over: #9a3b0a; --on-press: #ffffff; --done: #1a7447;
  --note: #e2effb; --note-ink: #12385e; --note-line: #a9cdee; --wrong: #b3261e; --wrong-ground: #fdf0ee;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #0c1a30; --card: #11233f; --grid: rgb(160 195 255 / .06); --ink: #e9effb; --muted: #aebcd6;
    --line: #2b4268; --field-line: #6c83aa; --press: #ff9d61; --press-over: #ffb281; --on-press: #231003; --done: #74dba8;
    --note: #14345a; --note-ink: #d6e9ff; --note-line: #2f5d92; --wrong: #ffb1a8; --wrong-ground: #3a1d22;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; color: var(--ink); background-color: var(--paper);
  background-image: linear-gradient(var(--grid) 1px, transparent 1px), linear-gradient(90deg, var(--grid) 1px, transparent 1px);
  background-size: 24px 24px;
  font: 16px/1.5 "Atkinson Hyperlegible Next", system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
a { color: inherit; text-underline-offset: 3px; }
:focus-visible { outline: 3px solid var(--press); outline-offset: 2px; border-radius: 4px; }
h1, h2, h3, p, ul, dl, dd, figure { margin: 0; padding: 0; }
h1, h2 { font-family: "Bricolage Grotesque", "Atkinson Hyperlegible Next", system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; line-height: 1.2; }
.banner {
  display: flex; gap: 10px; align-items: center; justify-content: center; padding: 10px 16px; text-align: center;
  background: var(--note); color: var(--note-ink); border-bottom: 1px solid var(--note-line); font-weight: 600; font-size: 15px;
}
.banner svg { flex: none; width: 20px; height: 20px; }
.page { display: grid; gap: 20px; max-width: 1040px; margin: 0 auto; padding: 20px 16px 40px; }
.brand { display: flex; align-items: center; gap: 12px; font-weight: 700; }
.brand svg { width: 40px; height: 40px; flex: none; }
.back { display: inline-flex; gap: 8px; align-items: center; min-height: 44px; color: var(--muted); font-size: 15px; text-decoration: none; }
.back span { text-decoration: underline; }
.back span[aria-hidden] { text-decoration: none; }
.for { margin-top: 20px; color: var(--muted); }
.total { font-size: 40px; font-weight: 700; letter-spacing: -.02em; font-variant-numeric: tabular-nums; }
.items { list-style: none; margin-top: 18px; }
.items li { display: grid; grid-template-columns: 1fr auto; gap: 2px 16px; padding: 12px 0; border-top: 1px solid var(--line); }
.items .name { font-weight: 600; overflow-wrap: anywhere; }
.items .price, .sum .price { font-variant-numeric: tabular-nums; }
.items .more { grid-column: 1 / -1; color: var(--muted); font-size: 15px; overflow-wrap: anywhere; }
.sum { display: flex; justify-content: space-between; padding: 14px 0; border-top: 2px solid var(--ink); font-weight: 700; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 20px 16px; }
.card h1, .card h2 { font-size: 22px; }
form { display: grid; gap: 16px; margin-top: 16px; }
.field { display: grid; gap: 6px; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 12px; align-items: start; }
label { font-weight: 600; font-size: 15px; }
fieldset { display: grid; gap: 16px; min-width: 0; margin: 0; padding: 0; border: 0; }
legend { margin-bottom: 10px; padding: 0; font-weight: 700; font-size: 17px; }
.check { display: grid; grid-template-columns: 24px 1fr; gap: 12px; align-items: start; font-weight: 400; cursor: pointer; }
input, select {
  width: 100%; min-height: 46px; padding: 8px 12px; border: 1px solid var(--field-line); border-radius: 8px;
  background: var(--card); color: var(--ink); font: inherit; font-variant-numeric: tabular-nums;
}
input[type="checkbox"] { width: 24px; min-height: 24px; margin: 0; padding: 0; accent-color: var(--press); }
input::placeholder { color: var(--muted); opacity: .85; }
input[readonly] { background: var(--paper); color: var(--muted); border-style: dashed; }
input[aria-invalid="true"] { border: 2px solid var(--wrong); padding: 7px 11px; }
.error { color: var(--wrong); font-size: 15px; font-weight: 600; }
.error:empty { display: none; }
.alert { padding: 12px 14px; border: 1px solid var(--wrong); border-radius: 8px; background: var(--wrong-ground); color: var(--wrong); font-weight: 600; }
.told { padding: 12px 14px; border: 1px solid var(--note-line); border-radius: 8px; background: var(--note); color: var(--note-ink); font-weight: 600; }
.alert:empty { display: none; }
button, .button {
  display: inline-flex; align-items: center; justify-content: center; gap: 10px; width: 100%; min-height: 52px; padding: 12px 20px;
  border: 0; border-radius: 10px; background: var(--press); color: var(--on-press); font: inherit; font-weight: 700; font-size: 17px;
  text-decoration: none; cursor: pointer; transition: background-color .15s;
}
button:hover, .button:hover { background: var(--press-over); }
button[aria-busy="true"] { cursor: progress; opacity: .85; }
.quiet { background: transparent; color: var(--ink); border: 1px solid var(--field-line); }
.quiet:hover { background: var(--paper); }
.small { color: var(--muted); font-size: 14px; }
.spin { display: none; width: 18px; height: 18px; border: 2px solid currentColor; border-right-color: transparent; border-radius: 50%; animation: turn .8s linear infinite; }
[aria-busy="true"] .spin { display: block; }
@keyframes turn { to { transform: rotate(1turn); } }
@media (prefers-reduced-motion: reduce) { .spin { animation: none; } button { transition: none; } }
details { border: 1px dashed var(--note-line); border-radius: 10px; background: var(--note); color: var(--note-ink); }
summary { min-height: 44px; padding: 10px 14px; font-weight: 600; cursor: pointer; }
.cards { list-style: none; padding: 0 6px 8px; }
.cards button {
  display: grid; grid-template-columns: auto 1fr; gap: 2px 12px; width: 100%; min-height: 44px; padding: 8px; border-radius: 8px; text-align: left; justify-items: start;
  background: transparent; color: inherit; font-size: 15px; font-weight: 400;
}
.cards button:hover { background: var(--card); }
.cards code { font: 600 14px/1.6 "JetBrains Mono", ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: nowrap; }
.cards p { padding: 4px 8px 8px; font-size: 14px; }
.narrow { max-width: 520px; margin: 0 auto; padding: 24px 16px 48px; display: grid; gap: 20px; }
.narrow .card { display: grid; gap: 14px; padding: 24px 20px; }
.narrow .card form { margin-top: 4px; gap: 12px; }
.narrow > h1, .desk > h1 { font-size: 28px; }
.narrow .items form { grid-column: 1 / -1; }
.desk { max-width: 1160px; margin: 0 auto; padding: 24px 16px 64px; display: grid; gap: 24px; }
.desk section > h2 { font-size: 20px; margin-bottom: 8px; }
.tools { display: grid; gap: 16px; grid-template-columns: repeat(auto-fit, minmax(300px, 1fr)); }
.tools .card { display: grid; gap: 8px; align-content: start; }
.row { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }
.row form, td form { margin: 0; display: inline-grid; }
.small-button { width: auto; min-height: 36px; padding: 4px 12px; border-radius: 8px; font-size: 15px; background: transparent; color: var(--ink); border: 1px solid var(--field-line); }
.small-button:hover { background: var(--note); color: var(--note-ink); }
.desk > *, .tools > * { min-width: 0; }
.scroll { position: relative; overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
table { width: 100%; border-collapse: collapse; font-size: 15px; font-variant-numeric: tabular-nums; }
th, td { padding: 8px 12px; text-align: left; vertical-align: middle; border-top: 1px solid var(--line); white-space: nowrap; }
thead th { border-top: 0; color: var(--muted); font-size: 14px; }
tbody th { font-weight: 600; }
td a { display: inline-block; padding: 6px 4px; }
code { font: 500 14px/1.6 "JetBrains Mono", ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.badge { width: 52px; height: 52px; }
.badge.done { color: var(--done); } .badge.wrong { color: var(--wrong); } .badge.ask { color: var(--press); }
.facts { display: grid; grid-template-columns: auto 1fr; gap: 6px 16px; }
.facts dt { color: var(--muted); }
.facts dd { overflow-wrap: anywhere; font-weight: 600; font-variant-numeric: tabular-nums; }
@media (min-width: 860px) {
  .page { grid-template-columns: minmax(0, 1fr) minmax(0, 460px); gap: 56px; padding: 48px 32px 64px; align-items: start; }
  .card { padding: 28px; }
  .total { font-size: 48px; }
}
@media (max-width: 430px) { .banner { font-size: 14px; } .cards button { grid-template-columns: 1fr; } }
`.trim()
