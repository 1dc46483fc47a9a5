(() => {
  const one = (css) => document.querySelector(css);
  const all = (css, within = document) => [...within.querySelectorAll(css)];
  all("#buttons, #tools, .buttons").forEach((part) => { part.hidden = false; });

  // Light or dark: the system decides until the reader does.
  const root = document.documentElement;
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const named = () => { one("#theme").textContent = dark() ? "Light" : "Dark"; };
  one("#theme").addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; named(); });
  named();

  // Filter and sort: the lines of the forest and the findings below follow the same controls.
  const form = one("#tools");
  const orders = {
    rank: (a, b) => a.rank - b.rank,
    estimate: (a, b) => b.estimate - a.estimate || a.rank - b.rank,
    size: (a, b) => b.size - a.size || a.rank - b.rank,
    context: (a, b) => a.context.localeCompare(b.context) || a.rank - b.rank,
  };
  const follow = () => {
    const text = form.text.value.trim().toLowerCase();
    const least = Number(form.least.value);
    let shown = 0;
    let findings = 0;
    for (const list of all("[data-sortable]")) {
      const items = [...list.children].map((item) => ({ item, ...item.dataset })).sort(orders[form.by.value]);
      for (const { item, context, size } of items) {
        item.hidden = !context.toLowerCase().includes(text) || size < least;
        list.append(item);
        if (list.dataset.sortable === "findings") { findings += 1; shown += !item.hidden; }
      }
    }
    one("#shown").textContent = `${shown} of ${findings} findings shown`;
  };
  if (form) {
    form.addEventListener("input", follow);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(follow));
    follow();
  }

  // A place in the tree is reached by opening everything around it.
  const reveal = () => {
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let part = place && place.parentElement; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    if (place) place.scrollIntoView({ block: "nearest" });
  };
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
  for (const cell of all("[data-node]")) cell.addEventListener("click", () => { location.hash = cell.dataset.node; reveal(); });
  for (const button of all("[data-open]")) {
    const tree = document.getElementById(button.getAttribute("aria-controls"));
    button.addEventListener("click", () => all("details", tree).forEach((part) => { part.open = button.dataset.open === "yes"; }));
  }

  // Paper shows everything; afterwards the page is as it was.
  let closed = [];
  addEventListener("beforeprint", () => { closed = all("details:not([open])"); closed.forEach((part) => { part.open = true; }); });
  addEventListener("afterprint", () => closed.forEach((part) => { part.open = false; }));
  one("#print").addEventListener("click", () => print());

  // What is saved comes from the JSON inside this page.
  const text = one("#report-data").textContent;
  const save = (ending, body, type) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([body], { type }));
    link.download = `fairtest-report.${ending}`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  const signs = { "<=": "≤", "==": "=" };
  const written = (value) => (Array.isArray(value) ? `{${value.join(", ")}}` : value);
  const where = (context) => context.map((p) => (p.op === "missing" ? `${p.column} missing` : `${p.column} ${signs[p.op] || p.op} ${written(p.value)}`)).join(", ") || "everyone";
  const row = (about, finding, population) => [
    about.name, finding.output, where(finding.context), finding.size, finding.metric, finding.effect,
    ...(finding.interval || ["", ""]), ...(finding.interval_single || ["", ""]), finding.p_value, finding.p_value_raw,
    finding.significant, population, finding.sentence,
  ];
  const cell = (value) => `"${String(value ?? "").replace(/^([=+@\t-])(?![\d.])/, "'$1").replaceAll('"', '""')}"`;
  one("#json").addEventListener("click", () => save("json", JSON.stringify(JSON.parse(text), null, 1), "application/json"));
  one("#csv").addEventListener("click", () => {
    const head = ["protected", "output", "context", "size", "metric", "effect", "low", "high", "low_single", "high_single", "p_value", "p_value_raw", "significant", "population", "sentence"];
    const rows = JSON.parse(text).investigations.flatMap((asked) => asked.protected.flatMap((about) => [
      row(about, about.population, true),
      ...about.findings.map((finding) => row(about, finding, !finding.context.length)),
    ]));
    save("csv", [head, ...rows].map((line) => line.map(cell).join(",")).join("\r\n"), "text/csv");
  });
})();
