// Files of a figure, made in the browser: SVG and PNG with title and source line, CSV of what is drawn. Asks for nothing.
(function () {
  const SVG = 'http://www.w3.org/2000/svg';
  const PAD = 16, LINE = 20, SMALL = 16, SCALE = 2;

  const save = (blob, name) => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };

  const wrapped = (text, most) => {
    const lines = [''];
    for (const word of text.split(/\s+/)) {
      const last = lines[lines.length - 1];
      if (last && last.length + word.length >= most) lines.push(word);
      else lines[lines.length - 1] = last ? last + ' ' + word : word;
    }
    return lines;
  };

  const words = (text, y, size, colour, weight) => {
    const node = document.createElementNS(SVG, 'text');
    const style = { x: PAD, y: y, fill: colour, 'font-size': size, 'font-weight': weight, 'font-family': 'sans-serif' };
    for (const [name, value] of Object.entries(style)) node.setAttribute(name, value);
    node.textContent = text;
    return node;
  };

  // in a report the figure around the button, whose caption changes with what is chosen; in the app a widget's key, or
  // the part of the page around the button, where a chart has no class for its key
  const plotOf = (button) => {
    const around = button.closest('figure') || document.querySelector('.st-key-' + CSS.escape(button.dataset.figureKey))
      || button.closest('[class*="st-key-"]');
    return around && around.querySelector('.js-plotly-plot, .vega-embed');
  };
  const titleOf = (button, plot) => {
    const caption = button.closest('figure')?.querySelector('figcaption')?.textContent;
    return button.dataset.title || caption || plot.getAttribute('aria-label') || '';
  };

  // the figure as it stands on the page, with its title above and its source below
  const picture = (plot, button) => {
    const width = plot.clientWidth, height = plot.clientHeight;
    const colours = getComputedStyle(document.documentElement);
    const colour = (name) => colours.getPropertyValue('--dp-' + name) || colours.getPropertyValue('--' + name);
    const ink = colour('ink'), paper = colour('paper');
    const title = wrapped(titleOf(button, plot), width / 8), source = wrapped(button.dataset.source, width / 7);
    const top = PAD + LINE * title.length, whole = top + height + PAD + SMALL * source.length;
    const out = document.createElementNS(SVG, 'svg');
    for (const [name, value] of Object.entries({ width: width, height: whole, viewBox: `0 0 ${width} ${whole}` })) {
      out.setAttribute(name, value);
    }
    const ground = document.createElementNS(SVG, 'rect');
    for (const [name, value] of Object.entries({ width: width, height: whole, fill: paper })) ground.setAttribute(name, value);
    out.append(ground);
    title.forEach((text, i) => out.append(words(text, PAD + LINE * (i + 0.5), 15, ink, 600)));
    for (const layer of plot.querySelectorAll('svg.main-svg, svg.marks')) {
      const copy = layer.cloneNode(true);
      copy.querySelectorAll('.hoverlayer').forEach((hover) => hover.remove());
      copy.setAttribute('y', top);
      copy.style.background = 'none';
      out.append(copy);
    }
    source.forEach((text, i) => out.append(words(text, top + height + SMALL * (i + 1), 12, ink, 400)));
    return { text: new XMLSerializer().serializeToString(out), width: width, height: whole };
  };

  const png = (drawn, name) => {
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement('canvas');
      canvas.width = drawn.width * SCALE;
      canvas.height = drawn.height * SCALE;
      const pen = canvas.getContext('2d');
      pen.scale(SCALE, SCALE);
      pen.drawImage(image, 0, 0);
      canvas.toBlob((blob) => save(blob, name + '.png'), 'image/png');
    };
    image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(drawn.text);
  };

  const decoded = (value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return '';
    const area = document.createElement('textarea'); // labels hold entities for Plotly
    area.innerHTML = String(value);
    return area.value;
  };
  const cell = (value) => {
    const text = decoded(value);
    const plain = typeof value !== 'number' && /^[=+\-@\t\r]/.test(text) ? "'" + text : text; // no formula in a sheet
    return /[",\n\r]/.test(plain) ? '"' + plain.replaceAll('"', '""') + '"' : plain;
  };

  const table = (plot, button) => {
    const rows = [['# ' + titleOf(button, plot)], ['# ' + button.dataset.source]];
    const traces = (plot._fullData || plot.data).filter((trace) => trace.visible !== false && trace.hoverinfo !== 'skip');
    const heat = traces.some((trace) => trace.z);
    rows.push(heat ? ['table', 'row', 'column', 'value'] : ['series', 'x', 'y']);
    for (const trace of traces) {
      const name = /^trace \d+$/.test(trace.name || '') ? '' : trace.name || '';
      if (trace.z) {
        // coloured by a root where the shares themselves stand next to it
        const shares = Array.isArray(trace.customdata?.[0]) && typeof trace.customdata[0][0] === 'number';
        const z = shares ? trace.customdata : trace.z;
        Array.from(trace.y).forEach((y, i) => Array.from(trace.x).forEach((x, j) => rows.push([name, y, x, z[i][j]])));
      } else {
        Array.from(trace.x || []).forEach((x, i) => rows.push([name, x, trace.y[i]]));
      }
    }
    return rows.map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';
  };

  if (window.dpFigureFiles) return;
  window.dpFigureFiles = true;
  document.addEventListener('click', (event) => {
    const button = event.target.closest?.('button[data-figure-file]');
    if (!button) return;
    const plot = plotOf(button);
    if (!plot) return;
    const name = button.dataset.figureName, kind = button.dataset.figureFile;
    if (kind === 'csv') save(new Blob(['\ufeff', table(plot, button)], { type: 'text/csv' }), name + '.csv');
    else if (kind === 'svg') save(new Blob([picture(plot, button).text], { type: 'image/svg+xml' }), name + '.svg');
    else png(picture(plot, button), name);
  });
})();
