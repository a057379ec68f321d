// Draws the report's figures when they come into view, in the colours of the reader's system.
"use strict";
(function () {
  const store = JSON.parse(document.getElementById("data").textContent);
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const config = { displayModeBar: false, responsive: true, scrollZoom: false, doubleClick: false, doubleClickDelay: 1 };
  const drawn = new Set();
  let printing = false;

  const palette = () => (system.matches && !printing ? store.dark : store.light);

  function paint(value, colours) {
    if (typeof value === "string") {
      return value[0] === "@" && value.slice(1) in colours ? colours[value.slice(1)] : value;
    }
    if (Array.isArray(value)) return value.map((v) => paint(v, colours));
    if (value && typeof value === "object") {
      const out = {};
      for (const key of Object.keys(value)) out[key] = paint(value[key], colours);
      return out;
    }
    return value;
  }

  function draw(node, spec) {
    const colours = palette();
    const template = { layout: paint(store.layout, colours) };
    const layout = Object.assign({}, paint(spec.layout, colours), { template: template });
    return Plotly.react(node, paint(spec.data, colours), layout, config);
  }

  // ---- figures, and drop-down lists that choose one of several

  const chosen = {};
  function show(node) {
    const key = node.dataset.figure;
    const spec = store.figures[key][chosen[key] || 0];
    drawn.add(node);
    node.setAttribute("aria-label", spec.alt);
    const caption = node.parentElement.querySelector("figcaption");
    if (caption) caption.textContent = spec.caption;
    const box = node.parentElement.querySelector("[data-numbers]");
    if (box && box.open && !printing) box.dispatchEvent(new Event("toggle"));
    draw(node, spec);
    if (key === "pairs" && !node.dataset.ready) {
      node.dataset.ready = "1";
      node.on("plotly_click", (event) => {
        const at = event.points[0].pointIndex || event.points[0].pointNumber;
        if (Array.isArray(at)) openPair(at[0], at[1]);
      });
    }
  }

  document.querySelectorAll("select[data-for]").forEach((list) => {
    list.addEventListener("change", () => {
      chosen[list.dataset.for] = Number(list.value);
      document.querySelectorAll("[data-figure]").forEach((node) => {
        if (node.dataset.figure === list.dataset.for) show(node);
      });
    });
  });

  // ---- the numbers of a figure as a table, made when asked for

  const MOST = 1000;
  const said = store.words;
  const local = (text) => (said.decimal_mark === "," ? text.replace(".", ",") : text);
  const words = (v) => {
    if (v === null || v === undefined) return "";
    return typeof v === "number" ? local(String(Number(v.toPrecision(5)))) : String(v);
  };
  const decoded = (v) => {
    const area = document.createElement("textarea"); // labels hold entities for Plotly
    area.innerHTML = words(v);
    return area.value;
  };

  function numbers(spec) {
    const heat = spec.data.some((t) => t.z);
    const rows = [];
    spec.data.forEach((t) => {
      if (t.hoverinfo === "skip") return; // lines that only guide the eye
      if (t.z) {
        t.y.forEach((y, i) => t.x.forEach((x, j) => t.z[i][j] !== null && rows.push([x, y, t.z[i][j]])));
      } else {
        (t.x || []).forEach((x, i) => rows.push([t.name || "", x, t.y[i]]));
      }
    });
    const table = document.createElement("table");
    const line = (cells, tag) => {
      const tr = table.insertRow();
      cells.forEach((c) => {
        const cell = document.createElement(tag);
        cell.textContent = decoded(c);
        if (typeof c === "number") cell.className = "n";
        tr.appendChild(cell);
      });
    };
    line(heat ? [said.column, said.row, said.value] : [said.series, "x", "y"], "th");
    rows.slice(0, MOST).forEach((r) => line(r, "td"));
    if (rows.length > MOST) line([said.first.replace("{some}", MOST).replace("{all}", rows.length), "", ""], "td");
    return table;
  }

  document.querySelectorAll("[data-numbers]").forEach((box) => {
    box.addEventListener("toggle", () => {
      const key = box.dataset.numbers;
      box.querySelectorAll(".scroll").forEach((old) => old.remove());
      if (!box.open) return;
      const frame = document.createElement("div");
      frame.className = "scroll tall";
      frame.appendChild(numbers(store.figures[key][chosen[key] || 0]));
      box.appendChild(frame);
    });
  });

  // ---- the map of pairs and the tables of one pair

  const pairs = store.pairs;
  const ab = { a: 0, b: pairs && pairs.series.length > 1 ? 1 : 0 };
  let open = null;

  function remap() {
    const spec = store.figures.pairs[0];
    const z = pairs.names.map(() => new Array(pairs.names.length).fill(null));
    const first = pairs.triangles[pairs.series[ab.a]];
    const second = pairs.triangles[pairs.series[ab.b]];
    let at = 0;
    for (let i = 0; i < z.length; i++) {
      for (let j = i + 1; j < z.length; j++, at++) {
        z[i][j] = first[at];
        z[j][i] = second[at];
      }
    }
    spec.data[0].z = z;
    spec.data[0].zmax = Math.max(0.01, ...first, ...second);
  }

  // one of the empty panels that the engine made, filled with numbers
  function heat(id, kind, numbers) {
    const trace = Object.assign({}, pairs.panels[kind], numbers);
    draw(document.getElementById(id), { data: [trace], layout: pairs.panel_layout });
  }

  const percent = (share) => local(String(Number((100 * share).toPrecision(2)))) + (said.decimal_mark === "," ? "\u00a0%" : "%");

  function openPair(row, column) {
    if (row === column) return;
    const which = row < column ? ab.a : ab.b;
    const i = Math.min(row, column);
    const j = Math.max(row, column);
    open = [row, column];
    document.getElementById("pair-row").value = row;
    document.getElementById("pair-column").value = column;
    const title = document.getElementById("pair-name");
    title.textContent = pairs.names[i] + " x " + pairs.names[j];
    document.getElementById("pair-which").textContent = pairs.series[which];
    const counts = pairs.tables[i + "|" + j];
    if (!counts) {
      title.textContent += said.gone;
      ["pair-real", "pair-synthetic", "pair-difference"].forEach((id) => Plotly.purge(id));
      return;
    }
    const rows = pairs.labels[i];
    const columns = pairs.labels[j];
    const share = (list, size) => rows.map((_, r) => columns.map((_, c) => list[r * columns.length + c] / size));
    const real = share(counts[0], pairs.sizes[0]);
    const synthetic = share(counts[which + 1], pairs.sizes[which + 1]);
    const gap = real.map((line, r) => line.map((v, c) => synthetic[r][c] - v));
    const top = Math.max(...real.flat(), ...synthetic.flat()) || 1;
    const far = Math.max(...gap.flat().map(Math.abs)) || 1e-9;
    const at = [0, top / 4, top]; // colours follow the square root of a share
    const bar = Object.assign({}, pairs.panels.amount.colorbar, { tickvals: at.map(Math.sqrt), ticktext: at.map(percent) });
    const amount = (name, z) => ({
      z: z.map((line) => line.map(Math.sqrt)), customdata: z, x: columns, y: rows, zmax: Math.sqrt(top), colorbar: bar,
      name: name,
    });
    heat("pair-real", "amount", amount(said.real, real));
    heat("pair-synthetic", "amount", amount(pairs.series[which], synthetic));
    heat("pair-difference", "difference", { z: gap, x: columns, y: rows, zmin: -far, zmax: far });
  }

  ["row", "column"].forEach((which) => {
    const list = document.getElementById("pair-" + which);
    if (!list) return;
    list.addEventListener("change", () => {
      const at = ["row", "column"].map((k) => Number(document.getElementById("pair-" + k).value));
      openPair(at[0], at[1]);
    });
  });

  ["a", "b"].forEach((side) => {
    const list = document.getElementById("map-" + side);
    if (!list) return;
    list.addEventListener("change", () => {
      ab[side] = Number(list.value);
      remap();
      show(document.querySelector("[data-figure='pairs']"));
      if (open) openPair(open[0], open[1]);
    });
  });

  // ---- drawn when seen; drawn again when the colours change

  const watch = new IntersectionObserver((seen) => {
    seen.forEach((entry) => {
      if (!entry.isIntersecting) return;
      watch.unobserve(entry.target);
      if (entry.target.id === "pair") openPair(pairs.worst[0], pairs.worst[1]);
      else show(entry.target);
    });
  }, { rootMargin: "300px" });
  document.querySelectorAll("[data-figure], #pair").forEach((node) => watch.observe(node));

  function repaint() {
    drawn.forEach(show);
    if (open) openPair(open[0], open[1]);
  }
  system.addEventListener("change", repaint);
  window.addEventListener("beforeprint", () => {
    printing = true;
    document.querySelectorAll("[data-figure]").forEach(show);
    if (pairs && !open) openPair(pairs.worst[0], pairs.worst[1]);
    repaint();
  });
  window.addEventListener("afterprint", () => {
    printing = false;
    repaint();
  });
})();
